#include "coordinator/api/submit.h"

#include <nlohmann/json.hpp>
#include <set>

#include "common/model/reproduces.h"
#include "coordinator/api/origin_problems.h"
#include "coordinator/api/spec_problems.h"
#include "coordinator/store/code_files.h"

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

// Runs on a thread of the pool: a study has many jobs.
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

Error not_packed(const Submission& submission, const char* key, const std::string& lies) {
  return {
      ErrorCode::invalid,
      std::string("code.") + key + " " + lies + " and is packed by \"podium submit\"; submit it with that",
      place_in(submission.spec, submission.file, std::string("/code/") + key), std::string("/code/") + key};
}

// Gives the jobs the code that was posted for them.
Errors take_code(const Api& api, const Submission& submission, LoadedExperiment& loaded) {
  std::set<std::string> missing;
  for (JobSpec& job : loaded.jobs) {
    if (!job.code) continue;
    if (!submission.code.empty()) job.code->snapshot = submission.code;
    const bool of_git = !job.code->git.empty();
    if (of_git && !submission.code_commit.empty()) job.code->commit = submission.code_commit;
    if (of_git && (job.code->snapshot.empty() || job.code->commit.empty()))
      return {not_packed(submission, "git", "is looked up in the repository that holds the spec's file")};
    if (job.code->snapshot.empty()) return {not_packed(submission, "folder", "lies with the spec's file")};
    if (!has_code(api.options.code, job.code->snapshot)) missing.insert(job.code->snapshot);
  }
  Errors errors;
  for (const std::string& hash : missing)
    errors.push_back({ErrorCode::invalid,
                      "the coordinator has no code " + hash + " (any more); submit it from its folder again",
                      place_in(submission.spec, submission.file, "/code"), "/code"});
  return errors;
}

// What the jobs ask of this coordinator and of jobs that have ended.
awaitable<Errors> objections_of_store(Api& api, const LoadedExperiment& loaded) {
  Errors errors = co_await origin_problems(api, loaded);
  if (loaded.jobs.front().serve && api.options.services.empty())
    errors.push_back({ErrorCode::invalid,
                      "this coordinator has no address for services; it must be started with --services "
                      "ADDRESS:PORT",
                      "/task"});
  co_return errors;
}

awaitable<void> add_objections_of_core(Api& api, const LoadedExperiment& loaded, Errors& errors) {
  const SubmitExperiment wish = co_await wish_of(api, loaded);
  const Result<Events> possible = handle(api.loop.state(), wish, api.loop.now());
  if (!possible) errors.insert(errors.end(), possible.errors().begin(), possible.errors().end());
}

awaitable<Result<Accepted>> submit(Api& api, Submission submission, std::string key) {
  if (auto refusal = api.store.refusal()) co_return *refusal;
  co_await api.loop.heard();
  Result<LoadedExperiment> read = co_await load_submission(api, submission);
  if (!read) co_return co_await all_told(api, read.errors(), std::move(submission));
  LoadedExperiment loaded = std::move(read).value();
  if (Errors errors = take_code(api, submission, loaded); !errors.empty()) co_return errors;
  if (submission.reproduces)
    for (JobSpec& job : loaded.jobs) job.labels[kReproduces] = to_string(*submission.reproduces);
  ExperimentText text = text_of(submission, key);
  const auto write = [&loaded] { return spec_texts(loaded.jobs); };
  text.job_specs = co_await api.checks.run(write);
  text.links = loaded.links;
  if (Errors all = co_await objections_of_store(api, loaded); !all.empty()) {
    co_await add_objections_of_core(api, loaded, all);
    co_return co_await told(api, std::move(all), std::move(submission));
  }
  SubmitExperiment wish = co_await wish_of(api, loaded);
  const Result<Events> events = co_await api.loop.submit(std::move(wish), std::move(text));
  if (!events) co_return co_await told(api, events.errors(), std::move(submission));
  co_return Accepted{created_by(*events), true};
}

// What a key has made before, and in what that differs from this submission; "" where it does not.
struct Twin {
  ExperimentId experiment;
  std::string difference;
};

std::string difference(Reader& reader, ExperimentId known, const Submission& now) {
  const ExperimentView before = reader.experiment(known).value();
  LoadedExperiment made;
  for (const JobId id : before.jobs) {
    made.jobs.push_back(job_spec_from_json(nlohmann::json::parse(reader.job_spec(id).value())));
    if (!before.listed) break;  // the others have the same code
  }
  const auto& labels = made.jobs.front().labels;
  const auto label = labels.find(kReproduces);
  const bool repeats = now.reproduces && label != labels.end() && label->second == to_string(*now.reproduces);
  if (repeats) return "";  // all else follows from that job, as far as it was known then
  if (before.spec != now.spec) return "spec";
  if (now.reproduces || label != labels.end()) return "job to repeat";
  const CodeSpec* const code = code_of(made);
  if (code == nullptr) return "";
  const bool same_files = now.code.empty() || now.code == code->snapshot;
  const bool same_commit = now.code_commit.empty() || code->git.empty() || now.code_commit == code->commit;
  return same_files && same_commit ? "" : "code";
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
    if (job->tracked || is_terminal(job->state))
      ends.emplace(id, job->state);  // else it was requeued meanwhile
  }
  return ends;
}

}  // namespace

awaitable<SubmitExperiment> wish_of(Api& api, const LoadedExperiment& loaded) {
  SubmitExperiment wish{loaded.name, {}};
  wish.in_turn = loaded.in_turn;
  wish.asha = loaded.asha;
  wish.links = loaded.links;
  for (const JobSpec& job : loaded.jobs) wish.jobs.push_back(job_request(job));
  for (std::size_t i = 0; i < loaded.links.size(); ++i)
    if (loaded.links[i].init) wish.jobs[i].init.reset();  // has no number yet
  // While one job is read, another may end.
  for (auto jobs = forgotten(api.loop.state(), wish); !jobs.empty();
       jobs = forgotten(api.loop.state(), wish)) {
    co_await api.loop.durable();
    const auto query = [jobs](Reader& reader) { return read_ends(reader, jobs); };
    Ends ends = co_await api.pool.read(query);
    wish.ended.merge(ends);
  }
  co_return wish;
}

awaitable<Errors> objections(Api& api, const LoadedExperiment& loaded) {
  Errors errors = co_await objections_of_store(api, loaded);
  co_await add_objections_of_core(api, loaded, errors);
  co_return errors;
}

awaitable<Errors> told(Api& api, Errors errors, Submission submission) {
  const auto tell = [errors = std::move(errors), submission = std::move(submission)] {
    return told_of_spec(errors, submission);
  };
  co_return co_await api.checks.run(tell);
}

awaitable<Errors> all_told(Api& api, Errors mistakes, Submission submission) {
  const auto read = [&submission, &mistakes]() -> Result<LoadedExperiment> {
    const std::optional<std::string> rest = sound_part(submission, mistakes);
    return rest ? load_experiment(*rest, submission.file) : Result<LoadedExperiment>(mistakes);
  };
  const Result<LoadedExperiment> rest = co_await api.checks.run(read);
  if (!rest) co_return mistakes;
  Errors against = co_await objections(api, *rest);
  if (against.empty()) co_return mistakes;
  against = co_await told(api, std::move(against), std::move(submission));
  mistakes.insert(mistakes.end(), against.begin(), against.end());
  co_return mistakes;
}

awaitable<Result<LoadedExperiment>> load_submission(Api& api, const Submission& submission) {
  return api.checks.run(
      [spec = submission.spec, file = submission.file] { return load_experiment(spec, file); });
}

awaitable<Result<Accepted>> submit_experiment(Api& api, Submission submission, std::string key) {
  if (key.empty()) co_return co_await submit(api, std::move(submission), key);
  const KeyLock::Guard guard = co_await api.keys.acquire(key);
  const auto query = [key, &submission](Reader& reader) -> std::optional<Twin> {
    const std::optional<ExperimentId> known = reader.experiment_by_key(key);
    return known ? std::optional(Twin{*known, difference(reader, *known, submission)}) : std::nullopt;
  };
  const std::optional<Twin> before = co_await api.pool.read(query);
  if (!before) co_return co_await submit(api, std::move(submission), key);
  if (before->difference.empty()) co_return Accepted{before->experiment, false};
  co_return Error{ErrorCode::conflict,
                  "Idempotency-Key \"" + key + "\" was used for experiment " + to_string(before->experiment) +
                      ", which has another " + before->difference + "; send this one under a key of its own",
                  ""};
}

}  // namespace podium
