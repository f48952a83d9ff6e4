#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_nodes(Api& api, Call call) {
  const auto limit = static_cast<std::size_t>(call.query.integer_or("limit", 100, 1, 1000));
  const NodeId after{call.query.text("page_token").value_or("")};
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto& all = api.loop.state().nodes;
  json nodes = json::array();
  auto next = all.upper_bound(after);
  for (; next != all.end() && nodes.size() < limit; ++next) nodes.push_back(node_json(next->second));
  json body{{"total", all.size()}};
  if (next != all.end()) body["next_page_token"] = nodes.back()["id"];
  body["nodes"] = std::move(nodes);
  co_await api.loop.durable();
  co_return json_reply(200, body);
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
