#include "coordinator/api/submit.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

ExperimentText text_of(const Submission& submission, const std::string& key) {
  ExperimentText text;
  text.spec = submission.spec;
  text.file = submission.file;
  text.source = submission.source;
  text.idempotency_key = key;
  return text;
}

// On a thread of the pool: a study's jobs are many.
std::vector<std::string> spec_texts(const std::vector<JobSpec>& jobs) {
  std::vector<std::string> texts;
  for (const JobSpec& job : jobs) texts.push_back(to_json(job).dump());
  return texts;
}

ExperimentId created_by(const Events& events) {
  for (const Event& event : events)
    if (const auto* created = std::get_if<ExperimentCreated>(&event.body)) return created->experiment;
  PODIUM_CHECK(false, "a submission that was not refused creates an experiment");
}

awaitable<Result<Accepted>> submit(Api& api, Submission submission, std::string key) {
  if (auto refusal = api.store.refusal()) co_return *refusal;
  co_await api.loop.heard();
  const Result<LoadedExperiment> loaded = co_await load_submission(api, submission);
  if (!loaded) co_return loaded.errors();
  ExperimentText text = text_of(submission, key);
  const auto write = [&loaded] { return spec_texts(loaded->jobs); };
  text.job_specs = co_await api.checks.run(write);
  SubmitExperiment wish = co_await wish_of(api, *loaded);
  const Result<Events> events = co_await api.loop.submit(std::move(wish), std::move(text));
  if (!events) co_return events.errors();
  co_return Accepted{created_by(*events), true};
}

using Ends = std::map<JobId, JobState>;

std::vector<JobId> forgotten(const ClusterState& state, const SubmitExperiment& wish) {
  std::vector<JobId> jobs;
  for (const JobRequest& request : wish.jobs)
    for (const Dependency& on : request.after)
      if (on.job < state.next_job && !find_job(state, on.job) && !wish.ended.contains(on.job))
        jobs.push_back(on.job);
  return jobs;
}

Ends read_ends(Reader& reader, const std::vector<JobId>& jobs) {
  Ends ends;
  for (const JobId id : jobs) {
    const std::optional<JobView> job = reader.job(id);
    if (!job)
      throw std::runtime_error("podium.db is damaged: the row of job " + to_string(id) + " is missing");
    if (is_terminal(job->state)) ends.emplace(id, job->state);  // else it was requeued meanwhile
  }
  return ends;
}

}  // namespace

awaitable<SubmitExperiment> wish_of(Api& api, const LoadedExperiment& loaded) {
  SubmitExperiment wish{loaded.name, {}};
  for (const JobSpec& job : loaded.jobs) wish.jobs.push_back(job_request(job));
  // While one is read, another may end.
  for (auto jobs = forgotten(api.loop.state(), wish); !jobs.empty();
       jobs = forgotten(api.loop.state(), wish)) {
    co_await api.loop.durable();
    const auto query = [jobs](Reader& reader) { return read_ends(reader, jobs); };
    Ends ends = co_await api.pool.read(query);
    wish.ended.merge(ends);
  }
  co_return wish;
}

awaitable<Result<LoadedExperiment>> load_submission(Api& api, const Submission& submission) {
  return api.checks.run(
      [spec = submission.spec, file = submission.file] { return load_experiment(spec, file); });
}

awaitable<Result<Accepted>> submit_experiment(Api& api, Submission submission, std::string key) {
  if (key.empty()) co_return co_await submit(api, std::move(submission), key);
  const KeyLock::Held held = co_await api.keys.acquire(key);
  const auto query = [key](Reader& reader) {
    const std::optional<ExperimentId> known = reader.experiment_by_key(key);
    return known ? reader.experiment(*known) : std::nullopt;
  };
  const std::optional<ExperimentView> before = co_await api.pool.read(query);
  if (!before) co_return co_await submit(api, std::move(submission), key);
  if (before->spec == submission.spec) co_return Accepted{before->id, false};
  co_return Error{ErrorCode::conflict,
                  "Idempotency-Key \"" + key + "\" was used for experiment " + to_string(before->id) +
                      ", which has another spec; send this one under a key of its own",
                  ""};
}

}  // namespace podium
