#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/known_checkpoints.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_checkpoints(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto job = co_await api.pool.read([id](Reader& reader) { return known_job(reader, *id); });
  if (!job) co_return no_such(call, "job", call.path[0]);
  const bool trains = job->spec.command.empty();  // a program keeps what it likes
  const std::vector<bool> removed = removed_checkpoints(job->checkpoints, job->spec.checkpoint.keep);
  json checkpoints = json::array();
  for (std::size_t i = 0; i < removed.size(); ++i)
    checkpoints.push_back(
        checkpoint_json(job->checkpoints[i], *id, api.loop.state().folder, trains && removed[i]));
  co_return json_reply(200, {{"checkpoints", std::move(checkpoints)}});
}

}  // namespace podium
