#include "common/model/links.h"

namespace podium {
namespace {

JobId numbered(JobId first, std::size_t index) { return {first.value + static_cast<std::int64_t>(index)}; }

// What a spec and a request have in common.
template <class Job>
void link_common(Job& job, const JobLinks& links, JobId first) {
  for (const JobLinks::After& on : links.after) job.after.push_back({numbered(first, on.job), on.when});
  if (links.resume) job.resume = numbered(first, *links.resume);
}

}  // namespace

void link(JobSpec& spec, const JobLinks& links, JobId first) {
  link_common(spec, links, first);
  if (links.init) spec.model.init_job->job = numbered(first, *links.init);
}

void link(JobRequest& request, const JobLinks& links, JobId first) {
  link_common(request, links, first);
  if (links.init) request.init = numbered(first, *links.init);
}

}  // namespace podium
