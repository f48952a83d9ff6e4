#include <nlohmann/json.hpp>

#include "coordinator/api/guard.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_health(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  json nodes{{"up", 0}, {"unknown", 0}, {"lost", 0}};
  for (const auto& [id, node] : api.loop.state().nodes) {
    json& count = nodes[std::string(to_string(node.state))];
    count = count.get<int>() + 1;
  }
  // Whoever continues the stream from here misses nothing.
  const std::int64_t live_id = api.live.told_id();
  json jobs = json::object();
  for (const JobState state : kJobStates) jobs[std::string(to_string(state))] = api.counts.of(state);
  co_await api.loop.durable();
  co_return json_reply(
      200, {{"status", "ok"},
            {"version", api.options.version},
            {"cluster", api.loop.state().cluster.id},
            {"uptime_seconds", std::chrono::duration<double>(api.loop.now() - api.started).count()},
            {"jobs", std::move(jobs)},
            {"nodes", std::move(nodes)},
            {"live_id", live_id},
            {"token", token_of(api.options, call.request)}});
}

}  // namespace podium
