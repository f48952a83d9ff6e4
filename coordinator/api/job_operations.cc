#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/units.h"
#include "common/spec/json_body.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/core/state/exits.h"
#include "coordinator/store/code_files.h"
#include "coordinator/store/run_reader.h"

namespace podium {
namespace {

using nlohmann::json;

// Cancels a tracked run, of which the core knows no more than its number, and refuses all else.
awaitable<Errors> operate_on_tracked(Api& api, JobId job, bool cancels) {
  if (!cancels)
    co_return Errors{
        {ErrorCode::conflict,
         "job " + to_string(job) +
             " is a run that its program logs here: Podium did not start it, and can only cancel it",
         ""}};
  const RunChange change{to_millis(api.loop.now()), job, UpdateRun{JobState::cancelled, {}, {}}};
  const auto shared = std::make_shared<const RunChange>(change);
  const Result<std::int64_t> done = co_await api.loop.change(shared);
  if (done) api.feed.add_points({{job, {}}});  // it has changed, without a point
  co_return done.errors();
}

// What is wrong with each command, of which each is about the job at its place; none: it was done.
awaitable<std::vector<Errors>> carry_out(Api& api, std::vector<Command> commands, std::vector<JobId> jobs) {
  std::vector<Errors> errors = co_await api.loop.run_each(commands);
  std::vector<bool> cancels;
  for (const Command& command : commands) cancels.push_back(std::holds_alternative<CancelJob>(command));
  const auto query = [jobs, errors, cancels](Reader& reader) {
    std::vector<bool> tracked(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const bool unknown = !errors[i].empty() && errors[i].front().code == ErrorCode::conflict;
      const auto run = unknown ? reader.runs().info(jobs[i]) : std::nullopt;
      tracked[i] = run && run->tracked && !(is_terminal(run->state) && cancels[i]);
    }
    return tracked;
  };
  if (std::ranges::all_of(errors, &Errors::empty)) co_return errors;
  const std::vector<bool> tracked = co_await api.pool.read(query);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (tracked[i]) errors[i] = co_await operate_on_tracked(api, jobs[i], cancels[i]);
  co_return errors;
}

// Carries out `operation` on the job of the path and answers with the job as it is then.
template <class Operation>
awaitable<ServerReply> operate_on_jobs(Api& api, Call call, int status, Operation operation) {
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  operation.job = *id;
  const std::vector<Command> commands{operation};
  const std::vector<JobId> jobs{*id};
  const std::vector<Errors> errors = co_await carry_out(api, commands, jobs);
  if (!errors.front().empty()) co_return problem(errors.front(), call.request.id);
  const std::optional<json> job = co_await read_job(api, *id);
  PODIUM_CHECK(job.has_value(), "a job that a command was about can be read");
  co_return json_reply(status, *job);
}

// For operations that need no more than the job's number.
template <class Operation>
awaitable<ServerReply> operate_alone(Api& api, Call call, int status, Operation operation) {
  if (auto refusal = refuse_body(call)) co_return std::move(*refusal);
  co_return co_await operate_on_jobs(api, std::move(call), status, operation);
}

// As Job::astray: whether a task of `attempts`, which are all that ever were where the newest is `newest`,
// may still run.
bool is_astray(const std::vector<AttemptView>& attempts, int newest) {
  bool astray = false;
  for (const AttemptView& attempt : attempts) {
    if (std::ranges::any_of(attempt.tasks, [](const TaskView& task) { return task.pid > 0; })) astray = false;
    astray |= std::ranges::any_of(attempt.tasks, [](const TaskView& task) {
      return !task.exit || may_still_run(task.phase, *task.exit);
    });
  }
  return astray || newest != (attempts.empty() ? 0 : attempts.back().number);
}

// Adds what the core has forgotten: of a job that has ended, and of those that it was to follow. `code` is
// the folder of packed code.
// `read_by`: Reader::read_by_path().
void recall(Reader& reader, const std::filesystem::path& code, const std::map<JobId, JobId>& read_by,
            RequeueJob& operation) {
  const std::optional<JobView> job = reader.job(operation.job);
  const std::optional<std::string> spec = reader.job_spec(operation.job);
  if (!job || !is_terminal(job->state) || !spec || job->tracked) return;
  EndedJob& ended = operation.ended.emplace();
  ended.experiment = job->experiment;
  const JobSpec written = job_spec_from_json(json::parse(*spec));
  ended.request = job_request(written);
  ended.lacks_code = written.code && !has_code(code, written.code->snapshot);
  ended.request.priority = job->request.priority;  // an operator may have changed these two
  ended.request.walltime = job->request.walltime;
  ended.state = job->state;
  ended.attempts = reader.newest_attempt(operation.job);
  const std::vector<AttemptView> attempts = reader.attempts(operation.job);
  ended.astray = is_astray(attempts, ended.attempts);
  if (const auto by = read_by.find(operation.job); by != read_by.end()) ended.read_by = by->second;
  for (const AttemptView& attempt : attempts) {
    if (!attempt.started || !attempt.ended) continue;
    const Duration ran = *attempt.ended - *attempt.started;
    ended.served += ran;
    for (const TaskView& task : attempt.tasks) ended.attained += ran * std::ssize(task.devices);
  }
  for (const Dependency& on : ended.request.after)
    if (const auto before = reader.job(on.job); before && is_terminal(before->state))
      operation.ends.emplace(on.job, before->state);
}

// Lets one request at a time requeue a job: what was read of it stays true until the core has it. Takes the
// locks in the order of the jobs' numbers.
awaitable<std::vector<KeyLock::Guard>> keep_ended(Api& api, std::vector<JobId> jobs) {
  std::vector<KeyLock::Guard> guards;
  for (const JobId job : jobs) {
    const std::string key = "requeue " + to_string(job);
    KeyLock::Guard one = co_await api.keys.acquire(key);
    guards.push_back(std::move(one));
  }
  co_return guards;
}

awaitable<std::vector<RequeueJob>> requeues(Api& api, std::vector<JobId> jobs) {
  std::vector<RequeueJob> operations;
  bool ended = false;
  for (const JobId job : jobs) {
    operations.push_back({job});
    ended = ended || !find_job(api.loop.state(), job);
  }
  if (!ended) co_return operations;
  co_await api.loop.durable();
  const auto query = [operations, code = api.options.code](Reader& reader) {
    std::vector<RequeueJob> known = operations;
    const std::map<JobId, JobId> read_by = reader.read_by_path();
    for (RequeueJob& operation : known) recall(reader, code, read_by, operation);
    return known;
  };
  co_return co_await api.pool.read(query);
}

constexpr std::size_t kMostJobs = 1000;  // of one request
const std::vector<std::string> kOperations{"cancel", "hold", "release", "requeue"};

struct Operations {
  std::string name;
  std::vector<JobId> jobs;
};

void read_name(const json& value, std::string& name, Errors& errors) {
  if (value.is_string()) name = value.get<std::string>();
  if (std::ranges::find(kOperations, name) == kOperations.end())
    refuse(errors, fmt::format("must be one of {}", fmt::join(kOperations, ", ")), "/operation");
}

void read_job_numbers(const json& value, std::vector<JobId>& jobs, Errors& errors) {
  if (!value.is_array() || value.empty() || value.size() > kMostJobs)
    return refuse(errors, fmt::format("must be a list of 1 to {} jobs", kMostJobs), "/jobs");
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto job = whole_number(value[i], 1);
    if (job)
      jobs.push_back(JobId{*job});
    else
      refuse(errors, "must be the number of a job", fmt::format("/jobs/{}", i));
  }
}

Result<Operations> read_operations(const std::string& text) {
  const Result<json> body = parse_object(text);
  if (!body) return body.errors();
  Operations operations;
  Errors errors;
  need(*body, "operation", fmt::format("one of {}", fmt::join(kOperations, ", ")), errors);
  need(*body, "jobs", "a list of the numbers of jobs", errors);
  refuse_unknown(*body, {"operation", "jobs"}, errors);
  if (body->contains("operation")) read_name(body->at("operation"), operations.name, errors);
  if (body->contains("jobs")) read_job_numbers(body->at("jobs"), operations.jobs, errors);
  if (!errors.empty()) return errors;
  std::ranges::sort(operations.jobs);
  const auto repeated = std::ranges::unique(operations.jobs);
  operations.jobs.erase(repeated.begin(), repeated.end());
  return operations;
}

awaitable<std::vector<Command>> commands_of(Api& api, Operations wanted) {
  std::vector<Command> commands;
  for (const JobId job : wanted.jobs) {
    if (wanted.name == "cancel") commands.emplace_back(CancelJob{job});
    if (wanted.name == "hold") commands.emplace_back(HoldJob{job});
    if (wanted.name == "release") commands.emplace_back(ReleaseJob{job});
  }
  if (wanted.name == "requeue") {
    std::vector<RequeueJob> known = co_await requeues(api, wanted.jobs);
    for (RequeueJob& each : known) commands.emplace_back(std::move(each));
  }
  co_return commands;
}

awaitable<json> results_of(Api& api, std::vector<JobId> jobs, std::vector<Errors> errors) {
  const std::int64_t revision = api.live.take_id();
  const auto query = [jobs](Reader& reader) {
    std::vector<std::optional<JobView>> views;
    for (const JobId job : jobs) views.push_back(reader.job(job));
    return views;
  };
  const auto views = co_await api.pool.read(query);
  json results = json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (errors[i].empty()) {
      PODIUM_CHECK(views[i].has_value(), "a job that a command was about can be read");
      results.push_back({{"id", jobs[i].value}, {"job", job_json(*views[i], api.loop, revision)}});
    } else {
      results.push_back({{"id", jobs[i].value}, {"refusal", describe(errors[i])}});
    }
  }
  co_await api.loop.durable();
  co_return results;
}

Result<Duration> read_walltime(const std::string& text) {
  const Result<json> body = parse_object(text);
  if (!body) return body.errors();
  Errors errors;
  need(*body, "walltime", "a duration such as \"96h\"", errors);
  refuse_unknown(*body, {"walltime"}, errors);
  std::optional<Duration> walltime;
  if (body->contains("walltime")) {
    const json& value = body->at("walltime");
    if (value.is_string()) walltime = parse_duration(value.get<std::string>());
    if (!walltime) refuse(errors, "must be a duration such as \"96h\"", "/walltime");
  }
  if (!errors.empty()) return errors;
  return *walltime;
}

// The core decides which priorities are allowed.
Result<int> read_priority(const std::string& text) {
  const Result<json> body = parse_object(text);
  if (!body) return body.errors();
  Errors errors;
  need(*body, "priority", "a whole number from 0 to 100", errors);
  refuse_unknown(*body, {"priority"}, errors);
  std::int64_t priority = 0;
  if (body->contains("priority")) {
    const json& value = body->at("priority");
    if (value.is_number_integer())
      priority = std::clamp<std::int64_t>(value.get<std::int64_t>(), -1, INT32_MAX);
    else
      refuse(errors, "must be a whole number from 0 to 100", "/priority");
  }
  if (!errors.empty()) return errors;
  return static_cast<int>(priority);
}

}  // namespace

// Each job's operation is atomic, and all of them together are not: one turn takes them, and refuses each for
// itself.
awaitable<ServerReply> post_job_operations(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<Operations> wanted = read_operations(call.request.body);
  if (!wanted) co_return bad_request(call, wanted.errors());
  std::vector<KeyLock::Guard> guards;
  if (wanted->name == "requeue") guards = co_await keep_ended(api, wanted->jobs);
  const std::vector<Command> commands = co_await commands_of(api, *wanted);
  const std::vector<Errors> errors = co_await carry_out(api, commands, wanted->jobs);
  const json results = co_await results_of(api, wanted->jobs, errors);
  co_return json_reply(200, {{"results", results}});
}

awaitable<ServerReply> post_cancel(Api& api, Call call) {
  return operate_alone(api, std::move(call), 202, CancelJob{});
}

awaitable<ServerReply> post_hold(Api& api, Call call) {
  return operate_alone(api, std::move(call), 200, HoldJob{});
}

awaitable<ServerReply> post_release(Api& api, Call call) {
  return operate_alone(api, std::move(call), 200, ReleaseJob{});
}

awaitable<ServerReply> post_requeue(Api& api, Call call) {
  if (auto refusal = refuse_body(call)) co_return std::move(*refusal);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const std::vector<JobId> jobs{*id};
  const auto guards = co_await keep_ended(api, jobs);
  std::vector<RequeueJob> operations = co_await requeues(api, jobs);
  auto reply = operate_on_jobs(api, std::move(call), 202, std::move(operations.front()));
  co_return co_await std::move(reply);
}

awaitable<ServerReply> post_walltime(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<Duration> walltime = read_walltime(call.request.body);
  if (!walltime) co_return bad_request(call, walltime.errors());
  ExtendJob operation;
  operation.walltime = *walltime;
  co_return co_await operate_on_jobs(api, std::move(call), 200, operation);
}

awaitable<ServerReply> post_priority(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<int> priority = read_priority(call.request.body);
  if (!priority) co_return bad_request(call, priority.errors());
  PrioritiseJob operation;
  operation.priority = *priority;
  co_return co_await operate_on_jobs(api, std::move(call), 200, operation);
}

}  // namespace podium
