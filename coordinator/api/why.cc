// GET /jobs/{job}/why: what stands between a job and its start, when it is expected to start, and what would
// start it sooner.
#include <nlohmann/json.hpp>

#include "coordinator/api/explainer.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/plan/wait_reasons.h"
#include "coordinator/pilots/pilot_keeper.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_why(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto view = co_await api.pool.read([id](Reader& reader) { return reader.job(*id); });
  if (!view) co_return no_such(call, "job", call.path[0]);

  const Job* job = find_job(api.loop.state(), *id);
  const JobState state = job ? job->state : view->state;
  json body{{"now_ms", to_millis(api.loop.now())},
            {"blockers", json::array()},
            {"start", nullptr},
            {"sooner", json::array()}};
  if (job)
    if (const auto fence = behind_fence(*job, api.loop.state().limits, api.loop.now()))
      body["blockers"].push_back(blocker_json(*fence));
  if (job && state == JobState::queued) {
    body = co_await api.explainer.explain(*id);
    if (const auto nodes = api.pilots.why(*id)) body["blockers"].push_back(blocker_json(*nodes));
  }
  body["job"] = id->value;
  body["state"] = to_string(state);
  co_await api.loop.durable();
  co_return json_reply(200, body);
}

}  // namespace podium
