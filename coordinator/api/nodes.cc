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
  const std::int64_t revision = api.live.take_id();
  auto next = all.upper_bound(after);
  for (; next != all.end() && nodes.size() < limit; ++next)
    nodes.push_back(node_json(next->second, api.feed.has_heard(next->first), revision));
  json body{{"total", all.size()}};
  if (next != all.end()) body["next_page_token"] = nodes.back()["id"];
  body["nodes"] = std::move(nodes);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_node(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const NodeId id{call.path[0]};
  const Node* node = find_node(api.loop.state(), id);
  if (!node) co_return no_such(call, "node", call.path[0]);
  const json body = node_json(*node, api.feed.has_heard(id), api.live.take_id());
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
