#include <nlohmann/json.hpp>

#include "common/spec/load.h"
#include "coordinator/api/job_reader.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/submission.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxKey = 200;

struct ExperimentWithJobs {
  ExperimentView experiment;
  std::vector<JobView> jobs;
};

std::optional<ExperimentWithJobs> read_experiment(Reader& reader, ExperimentId id) {
  std::optional<ExperimentView> experiment = reader.experiment(id);
  if (!experiment) return std::nullopt;
  JobFilter filter;
  filter.experiment = id;
  filter.oldest_first = true;
  filter.limit = static_cast<int>(kMaxJobsOfExperiment);
  return ExperimentWithJobs{std::move(*experiment), reader.jobs(filter).jobs};
}

awaitable<ServerReply> experiment_reply(Api& api, int status, ExperimentId id) {
  std::optional<ExperimentWithJobs> read =
      co_await api.pool.read([id](Reader& reader) { return read_experiment(reader, id); });
  PODIUM_CHECK(read.has_value(), "a committed experiment can be read");
  json body{{"experiment", experiment_json(read->experiment)}};
  body["jobs"] = co_await jobs_json(api, std::move(read->jobs));
  co_return json_reply(status, body);
}

SubmitExperiment wish_of(const LoadedExperiment& loaded) {
  SubmitExperiment wish{loaded.name, {}};
  for (const JobSpec& job : loaded.jobs) wish.jobs.push_back(job_request(job));
  return wish;
}

ExperimentText text_of(const Submission& submission, const LoadedExperiment& loaded, const std::string& key) {
  ExperimentText text;
  text.spec = submission.spec;
  text.file = submission.file;
  text.source = submission.source;
  text.idempotency_key = key;
  for (const JobSpec& job : loaded.jobs) text.job_specs.push_back(to_json(job).dump());
  return text;
}

ExperimentId created_by(const Events& events) {
  for (const Event& event : events)
    if (const auto* created = std::get_if<ExperimentCreated>(&event.body)) return created->experiment;
  PODIUM_CHECK(false, "a submission that was not refused creates an experiment");
}

// Whatever is wrong with a spec is unprocessable, whether it is too large or just mistaken.
ServerReply refuse_spec(const Errors& errors, const std::string& request_id) {
  const std::string count = errors.size() == 1 ? "1 problem" : std::to_string(errors.size()) + " problems";
  return problem(422, count, request_id, errors);
}

awaitable<Result<LoadedExperiment>> load(Api& api, const Submission& submission) {
  return api.pool.run(
      [spec = submission.spec, file = submission.file] { return load_experiment(spec, file); });
}

awaitable<ServerReply> submit(Api& api, std::string request_id, Submission submission, std::string key) {
  const Result<LoadedExperiment> loaded = co_await load(api, submission);
  if (!loaded) co_return refuse_spec(loaded.errors(), request_id);
  SubmitExperiment wish = wish_of(*loaded);
  ExperimentText text = text_of(submission, *loaded, key);
  const Result<Events> events = co_await api.loop.submit(std::move(wish), std::move(text));
  if (!events) co_return problem(events.errors(), request_id);
  co_return co_await experiment_reply(api, 201, created_by(*events));
}

}  // namespace

awaitable<ServerReply> post_experiment(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  Result<Submission> submission = parse_submission(call.request.body);
  if (!submission)
    co_return problem(400, describe(submission.errors()), call.request.id, submission.errors());
  const std::string key = call.request.headers.get("Idempotency-Key");
  if (key.size() > kMaxKey) co_return bad_request(call, "Idempotency-Key is longer than 200 characters");
  if (key.empty()) co_return co_await submit(api, call.request.id, std::move(submission).value(), key);

  const KeyLock::Held held = co_await api.keys.acquire(key);
  const auto query = [key](Reader& reader) { return reader.experiment_by_key(key); };
  const std::optional<ExperimentId> before = co_await api.pool.read(query);
  if (before) co_return co_await experiment_reply(api, 200, *before);
  co_return co_await submit(api, call.request.id, std::move(submission).value(), key);
}

awaitable<ServerReply> post_validate(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json")) co_return std::move(*refusal);
  const Result<Submission> submission = parse_submission(call.request.body);
  if (!submission)
    co_return problem(400, describe(submission.errors()), call.request.id, submission.errors());
  const Result<LoadedExperiment> loaded = co_await load(api, *submission);
  if (!loaded) co_return refuse_spec(loaded.errors(), call.request.id);
  const Result<Events> possible = handle(api.loop.state(), wish_of(*loaded), api.loop.now());
  co_await api.loop.durable();
  if (!possible) co_return problem(possible.errors(), call.request.id);
  co_return json_reply(200,
                       {{"valid", true}, {"jobs", loaded->jobs.size()}, {"normalised", loaded->normalised}});
}

awaitable<ServerReply> get_experiments(Api& api, Call call) {
  const int limit = static_cast<int>(call.query.integer_or("limit", 100, 1, 1000));
  const std::optional<std::int64_t> token = call.query.integer("page_token", 1, INT64_MAX);
  if (!call.query.problems().empty()) co_return bad_query(call);
  std::optional<ExperimentId> before;
  if (token) before = ExperimentId{*token};
  // One more than asked for tells whether there is a next page.
  std::vector<ExperimentView> page = co_await api.pool.read(
      [limit, before](Reader& reader) { return reader.experiments(limit + 1, before); });
  const bool more = page.size() > static_cast<std::size_t>(limit);
  if (more) page.resize(static_cast<std::size_t>(limit));
  json list = json::array();
  for (const ExperimentView& experiment : page) list.push_back(experiment_json(experiment));
  json body{{"experiments", std::move(list)}};
  if (more) body["next_page_token"] = to_string(page.back().id);
  co_return json_reply(200, body);
}

awaitable<ServerReply> get_experiment(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<ExperimentId>(call.path[0]);
  if (!id) co_return no_such(call, "experiment", call.path[0]);
  const auto experiment = co_await api.pool.read([id](Reader& reader) { return reader.experiment(*id); });
  if (!experiment) co_return no_such(call, "experiment", call.path[0]);
  json body = experiment_json(*experiment);
  body["spec"] = experiment->spec;
  co_return json_reply(200, body);
}

}  // namespace podium
