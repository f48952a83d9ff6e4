#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/api/job_reader.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {
namespace {

using nlohmann::json;

// Carries out `operation` on the job of the path and answers with the job as it is then.
template <class Operation>
awaitable<ServerReply> operate(Api& api, Call call, int status, Operation operation) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  operation.job = *id;
  const Command command = operation;
  const Result<Events> events = co_await api.loop.run(command);
  if (!events) co_return problem(events.errors(), call.request.id);
  const std::optional<json> job = co_await read_job(api, *id);
  PODIUM_CHECK(job.has_value(), "a job that a command was about can be read");
  co_return json_reply(status, *job);
}

}  // namespace

awaitable<ServerReply> post_cancel(Api& api, Call call) {
  return operate(api, std::move(call), 202, CancelJob{});
}

awaitable<ServerReply> post_hold(Api& api, Call call) {
  return operate(api, std::move(call), 200, HoldJob{});
}

awaitable<ServerReply> post_release(Api& api, Call call) {
  return operate(api, std::move(call), 200, ReleaseJob{});
}

awaitable<ServerReply> post_requeue(Api& api, Call call) {
  return operate(api, std::move(call), 202, RequeueJob{});
}

awaitable<ServerReply> post_priority(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const json body = json::parse(call.request.body, nullptr, false);
  const bool whole = body.is_object() && body.size() == 1 && body.contains("priority") &&
                     body["priority"].is_number_integer();
  // Far beyond what an int holds is as wrong as 101; the core says what is right.
  if (!whole) co_return bad_request(call, "the body must be {\"priority\": 0 to 100}");
  const std::int64_t priority = std::clamp<std::int64_t>(body["priority"].get<std::int64_t>(), -1, INT32_MAX);
  PrioritiseJob operation;
  operation.priority = static_cast<int>(priority);
  co_return co_await operate(api, std::move(call), 200, operation);
}

}  // namespace podium
