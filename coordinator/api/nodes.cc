#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_nodes(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  json nodes = json::array();
  for (const auto& [id, node] : api.loop.state().nodes) nodes.push_back(node_json(node));
  co_await api.loop.durable();
  co_return json_reply(200, {{"nodes", std::move(nodes)}});
}

awaitable<ServerReply> get_node(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const Node* node = find_node(api.loop.state(), NodeId{call.path[0]});
  if (!node) co_return no_such(call, "node", call.path[0]);
  const json body = node_json(*node);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
