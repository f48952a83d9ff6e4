#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/units.h"
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

// What the core has forgotten of a job that has ended, and of those that it was to follow.
void recall(Reader& reader, RequeueJob& operation) {
  const std::optional<JobView> job = reader.job(operation.job);
  const std::optional<std::string> spec = reader.job_spec(operation.job);
  if (!job || !is_terminal(job->state) || !spec) return;
  EndedJob& ended = operation.ended.emplace();
  ended.experiment = job->experiment;
  ended.request = job_request(job_spec_from_json(json::parse(*spec)));
  ended.request.priority = job->request.priority;  // an operator may have changed these two
  ended.request.walltime = job->request.walltime;
  ended.state = job->state;
  ended.attempts = reader.newest_attempt(operation.job);
  for (const AttemptView& attempt : reader.attempts(operation.job)) {
    if (!attempt.started || !attempt.ended) continue;
    const Duration ran = *attempt.ended - *attempt.started;
    ended.served += ran;
    ended.attained += ran * std::ssize(attempt.tasks);
  }
  for (const Dependency& on : ended.request.after)
    if (const auto before = reader.job(on.job); before && is_terminal(before->state))
      operation.ends.emplace(on.job, before->state);
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

// One at a time of a job: what was read of it stays true until the core has it.
awaitable<ServerReply> post_requeue(Api& api, Call call) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const std::string key = "requeue " + to_string(*id);
  const KeyLock::Held held = co_await api.keys.acquire(key);
  RequeueJob operation{*id};
  if (!find_job(api.loop.state(), *id)) {
    co_await api.loop.durable();
    const auto query = [operation](Reader& reader) {
      RequeueJob known = operation;
      recall(reader, known);
      return known;
    };
    operation = co_await api.pool.read(query);
  }
  auto reply = operate(api, std::move(call), 202, std::move(operation));
  co_return co_await std::move(reply);
}

awaitable<ServerReply> post_walltime(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const json body = json::parse(call.request.body, nullptr, false);
  const bool whole =
      body.is_object() && body.size() == 1 && body.contains("walltime") && body["walltime"].is_string();
  const auto walltime = whole ? parse_duration(body["walltime"].get<std::string>()) : std::nullopt;
  if (!walltime) co_return bad_request(call, "the body must be {\"walltime\": \"96h\"}");
  ExtendJob operation;
  operation.walltime = *walltime;
  co_return co_await operate(api, std::move(call), 200, operation);
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
