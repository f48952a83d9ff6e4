#include "coordinator/api/resources.h"
#include "coordinator/api/router.h"

namespace podium {

const std::vector<Route>& routes() {
  static const std::vector<Route> table{
      {"GET", "/health", Audience::open, get_health},
      {"GET", "/openapi.yaml", Audience::open, get_openapi},
      {"POST", "/experiments", Audience::user, post_experiment},
      {"POST", "/validate", Audience::user, post_validate},
      {"POST", "/verdicts", Audience::user, post_verdicts},
      {"GET", "/experiments", Audience::read, get_experiments},
      {"GET", "/experiments/{experiment}", Audience::read, get_experiment},
      {"GET", "/studies", Audience::read, get_studies},
      {"GET", "/studies/{study}", Audience::read, get_study},
      {"GET", "/published", Audience::read, get_published},
      {"POST", "/code", Audience::user, post_code},
      {"GET", "/code/{sha256}", Audience::read, get_code},
      {"GET", "/jobs", Audience::read, get_jobs},
      {"POST", "/jobs/operations", Audience::user, post_job_operations},
      {"GET", "/jobs/{job}", Audience::read, get_job},
      {"POST", "/jobs/{job}/cancel", Audience::user, post_cancel},
      {"POST", "/jobs/{job}/hold", Audience::user, post_hold},
      {"POST", "/jobs/{job}/release", Audience::user, post_release},
      {"POST", "/jobs/{job}/requeue", Audience::user, post_requeue},
      {"POST", "/jobs/{job}/priority", Audience::user, post_priority},
      {"POST", "/jobs/{job}/walltime", Audience::user, post_walltime},
      {"GET", "/jobs/{job}/why", Audience::read, get_why},
      {"GET", "/jobs/{job}/events", Audience::read, get_job_events},
      {"GET", "/jobs/{job}/checkpoints", Audience::read, get_checkpoints},
      {"GET", "/jobs/{job}/ledger", Audience::read, get_job_ledger},
      {"GET", "/ledger", Audience::read, get_ledger},
      {"GET", "/jobs/{job}/metrics", Audience::read, get_metrics},
      {"GET", "/jobs/{job}/series", Audience::read, get_series},
      {"GET", "/jobs/{job}/projection", Audience::read, get_projection},
      {"GET", "/series", Audience::read, get_series_of_jobs},
      {"GET", "/compare", Audience::read, get_comparison},
      {"GET", "/jobs/{job}/logs", Audience::read, get_logs},
      {"POST", "/jobs/{job}/logs", Audience::read, post_logs},
      {"GET", "/accounts", Audience::read, get_accounts},
      {"GET", "/accounts/{account}", Audience::read, get_account},
      {"POST", "/accounts/{account}", Audience::user, post_account},
      {"DELETE", "/accounts/{account}", Audience::user, remove_account},
      {"GET", "/queue", Audience::read, get_queue},
      {"GET", "/specs", Audience::read, get_specs},
      {"GET", "/nodes", Audience::read, get_nodes},
      {"GET", "/nodes/{node}", Audience::read, get_node},
      {"POST", "/nodes/{node}/drain", Audience::user, post_drain},
      {"POST", "/nodes/{node}/resume", Audience::user, post_resume},
      {"POST", "/nodes/{node}/reserve", Audience::user, post_reserve},
      {"POST", "/nodes/{node}/unreserve", Audience::user, post_unreserve},
      {"POST", "/nodes/{node}/labels", Audience::user, post_labels},
      {"POST", "/nodes/{node}/adopt", Audience::user, post_adopt},
      {"GET", "/live", Audience::read, get_live},
      {"POST", "/nodes/{node}/sync", Audience::agent, post_sync},
      {"POST", "/nodes/{node}/streams", Audience::agent, post_streams},
  };
  return table;
}

}  // namespace podium
