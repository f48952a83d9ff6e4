#include "coordinator/api/origin_problems.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/model/shape_differences.h"

namespace podium {
namespace {

using Specs = std::map<JobId, JobSpec>;

}  // namespace

awaitable<Errors> origin_problems(Api& api, const LoadedExperiment& loaded) {
  std::set<JobId> named;
  for (const JobSpec& job : loaded.jobs)
    if (job.model.init_job) named.insert(job.model.init_job->job);
  named.erase(JobId{});  // one of these jobs, which has no number yet
  if (named.empty()) co_return Errors{};
  const auto query = [named](Reader& reader) {
    Specs specs;
    for (const JobId id : named)
      if (const auto text = reader.job_spec(id))
        specs.emplace(id, job_spec_from_json(nlohmann::json::parse(*text)));
    return specs;
  };
  const Specs specs = co_await api.pool.read(query);
  Errors errors;
  for (std::size_t i = 0; i < loaded.jobs.size(); ++i) {
    const JobSpec& job = loaded.jobs[i];
    const auto other = job.model.init_job ? specs.find(job.model.init_job->job) : specs.end();
    const std::string why = other == specs.end() ? "" : why_no_weights(other->second, job);
    if (!why.empty())
      errors.push_back({ErrorCode::invalid,
                        "job \"" + job.name + "\" cannot take its first weights from job " +
                            to_string(other->first) + " (" + other->second.name + "): " + why,
                        (loaded.listed() ? "/jobs/" + std::to_string(i) : "") + "/model/init"});
  }
  co_return errors;
}

}  // namespace podium
