#include <nlohmann/json.hpp>

#include "coordinator/api/job_reader.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/service_url.h"
#include "coordinator/api/submit.h"
#include "coordinator/serving/service_keeper.h"

namespace podium {
namespace {

using nlohmann::json;

awaitable<Result<Submission>> receive_submission(Api& api, const Call& call) {
  const auto parse = [&body = call.request.body] { return parse_submission(body); };
  co_return co_await api.checks.run(parse);
}

struct ExperimentWithJobs {
  ExperimentView experiment;
  std::vector<JobView> jobs;
};

std::optional<ExperimentWithJobs> read_experiment(Reader& reader, ExperimentId id) {
  std::optional<ExperimentView> experiment = reader.experiment(id);
  if (!experiment) return std::nullopt;
  JobFilter filter;
  filter.experiment = id;
  filter.sort.descending = false;
  filter.limit = static_cast<int>(kMaxJobsOfExperiment);
  return ExperimentWithJobs{std::move(*experiment), reader.jobs(filter).jobs};
}

// Where it is asked; of an experiment that is no service, or has ended, null.
json service_of(const Api& api, const ServerRequest& request, ExperimentId id) {
  for (const ServiceStand& service : api.services.services())
    if (service.experiment == id)
      return {{"name", service.name}, {"url", service_url(api, request, service.name)}};
  return nullptr;
}

awaitable<ServerReply> experiment_reply(Api& api, ServerRequest request, int status, ExperimentId id) {
  const std::int64_t revision = api.live.take_id();
  std::optional<ExperimentWithJobs> read =
      co_await api.pool.read([id](Reader& reader) { return read_experiment(reader, id); });
  PODIUM_CHECK(read.has_value(), "a committed experiment can be read");
  json body{{"experiment", experiment_json(read->experiment)}};
  body["jobs"] = co_await jobs_json(api, std::move(read->jobs), revision);
  body["service"] = service_of(api, request, id);
  co_return json_reply(status, body);
}

}  // namespace

awaitable<ServerReply> post_experiment(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json", kMaxSubmission)) co_return std::move(*refusal);
  Result<Submission> submission = co_await receive_submission(api, call);
  if (!submission) co_return bad_request(call, submission.errors());
  const Result<std::string> key = idempotency_key(call);
  if (!key) co_return bad_request(call, key.errors());
  const Result<Accepted> accepted = co_await submit_experiment(api, std::move(submission).value(), *key);
  if (!accepted) co_return problem(accepted.errors(), call.request.id);
  co_return co_await experiment_reply(api, std::move(call.request), accepted->fresh ? 201 : 200,
                                      accepted->experiment);
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
