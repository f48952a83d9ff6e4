// POST /validate and POST /verdicts: what the coordinator would answer to specs. Nothing is queued.
#include <nlohmann/json.hpp>

#include "common/spec/warnings.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/submit.h"

namespace podium {
namespace {

using nlohmann::json;

awaitable<Result<LoadedExperiment>> judge(Api& api, Submission submission) {
  Result<LoadedExperiment> loaded = co_await load_submission(api, submission);
  if (!loaded) co_return co_await all_told(api, loaded.errors(), std::move(submission));
  Errors against = co_await objections(api, *loaded);
  if (!against.empty()) co_return co_await told(api, std::move(against), std::move(submission));
  co_return loaded;
}

json verdict_on(const LoadedExperiment& loaded) {
  return {{"valid", true},
          {"jobs", loaded.jobs.size()},
          {"warnings", warnings_of(loaded.jobs)},
          {"normalised", loaded.normalised}};
}

json verdict_on(const Errors& errors) {
  json list = json::array();
  for (const Error& error : errors) list.push_back(error_json(error));
  return {{"valid", false}, {"errors", std::move(list)}};
}

}  // namespace

awaitable<ServerReply> post_validate(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json", kMaxSubmission)) co_return std::move(*refusal);
  const auto parse = [&body = call.request.body] { return parse_submission(body); };
  const Result<Submission> submission = co_await api.checks.run(parse);
  if (!submission) co_return bad_request(call, submission.errors());
  const Result<LoadedExperiment> judged = co_await judge(api, *submission);
  co_await api.loop.durable();
  if (!judged) co_return problem(judged.errors(), call.request.id);
  co_return json_reply(200, verdict_on(*judged));
}

awaitable<ServerReply> post_verdicts(Api& api, Call call) {
  if (auto refusal = refuse_type(call, "application/json", kLargestBody)) co_return std::move(*refusal);
  const auto parse = [&body = call.request.body] { return parse_submissions(body); };
  const Result<std::vector<Submission>> submissions = co_await api.checks.run(parse);
  if (!submissions) co_return bad_request(call, submissions.errors());
  json verdicts = json::array();
  for (const Submission& submission : *submissions) {
    const Result<LoadedExperiment> judged = co_await judge(api, submission);
    verdicts.push_back(judged ? verdict_on(*judged) : verdict_on(judged.errors()));
  }
  co_await api.loop.durable();
  co_return json_reply(200, {{"verdicts", std::move(verdicts)}});
}

}  // namespace podium
