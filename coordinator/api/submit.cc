#include "coordinator/api/submit.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

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

awaitable<Result<Accepted>> submit(Api& api, Submission submission, std::string key) {
  const Result<LoadedExperiment> loaded = co_await load_submission(api, submission);
  if (!loaded) co_return loaded.errors();
  SubmitExperiment wish = wish_of(*loaded);
  ExperimentText text = text_of(submission, *loaded, key);
  const Result<Events> events = co_await api.loop.submit(std::move(wish), std::move(text));
  if (!events) co_return events.errors();
  co_return Accepted{created_by(*events), true};
}

}  // namespace

SubmitExperiment wish_of(const LoadedExperiment& loaded) {
  SubmitExperiment wish{loaded.name, {}};
  for (const JobSpec& job : loaded.jobs) wish.jobs.push_back(job_request(job));
  return wish;
}

awaitable<Result<LoadedExperiment>> load_submission(Api& api, const Submission& submission) {
  return api.pool.run(
      [spec = submission.spec, file = submission.file] { return load_experiment(spec, file); });
}

awaitable<Result<Accepted>> submit_experiment(Api& api, Submission submission, std::string key) {
  if (key.empty()) co_return co_await submit(api, std::move(submission), key);
  const KeyLock::Held held = co_await api.keys.acquire(key);
  const auto query = [key](Reader& reader) { return reader.experiment_by_key(key); };
  const std::optional<ExperimentId> before = co_await api.pool.read(query);
  if (before) co_return Accepted{*before, false};
  co_return co_await submit(api, std::move(submission), key);
}

}  // namespace podium
