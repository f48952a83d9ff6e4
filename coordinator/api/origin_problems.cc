#include "coordinator/api/origin_problems.h"

#include <map>
#include <set>

#include "common/model/shape_differences.h"
#include "coordinator/api/known_checkpoints.h"

namespace podium {
namespace {

using KnownJobs = std::map<JobId, KnownJob>;

awaitable<KnownJobs> jobs_named(Api& api, const LoadedExperiment& loaded) {
  std::set<JobId> named;
  for (const JobSpec& job : loaded.jobs) {
    if (job.model.init_job) named.insert(job.model.init_job->job);
    if (job.resume) named.insert(*job.resume);
  }
  named.erase(JobId{});  // one of these jobs, which has no number yet
  if (named.empty()) co_return KnownJobs{};
  const auto query = [named](Reader& reader) {
    KnownJobs known;
    for (const JobId id : named)
      if (auto job = known_job(reader, id)) known.emplace(id, std::move(*job));
    return known;
  };
  co_return co_await api.pool.read(query);
}

std::string why_no_first_weights(const KnownJob& theirs, const JobSpec& ours, Time now) {
  if (std::string why = theirs.tracked ? "" : why_no_weights(theirs.spec, ours); !why.empty()) return why;
  const JobCheckpoint& wanted = *ours.model.init_job;
  std::optional<std::int64_t> step;
  if (wanted.choice == CheckpointChoice::step) step = wanted.step;
  return why_no_checkpoint(theirs, step, now);
}

}  // namespace

awaitable<Errors> origin_problems(Api& api, const LoadedExperiment& loaded) {
  const KnownJobs known = co_await jobs_named(api, loaded);
  const Time now = api.loop.now();
  Errors errors;
  for (std::size_t i = 0; i < loaded.jobs.size(); ++i) {
    const JobSpec& job = loaded.jobs[i];
    const auto refuse = [&](JobId other, const char* cannot, const std::string& why, const char* pointer) {
      if (why.empty()) return;
      errors.push_back({ErrorCode::invalid,
                        "job \"" + job.name + "\" cannot " + cannot + " job " + to_string(other) + " (" +
                            known.at(other).spec.name + "): " + why,
                        (loaded.listed() ? "/jobs/" + std::to_string(i) : "") + pointer});
    };
    if (const auto init = job.model.init_job; init && known.contains(init->job))
      refuse(init->job, "take its first weights from", why_no_first_weights(known.at(init->job), job, now),
             "/model/init");
    if (job.resume && known.contains(*job.resume))
      refuse(*job.resume, "go on from", why_no_checkpoint(known.at(*job.resume), std::nullopt, now),
             "/resume");
  }
  co_return errors;
}

}  // namespace podium
