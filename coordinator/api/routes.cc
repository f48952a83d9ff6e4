#include "coordinator/api/resources.h"
#include "coordinator/api/router.h"

namespace podium {

const std::vector<Route>& routes() {
  static const std::vector<Route> table{
      {"GET", "/health", Access::open, get_health},
      {"GET", "/openapi.yaml", Access::open, get_openapi},
      {"POST", "/experiments", Access::user, post_experiment},
      {"POST", "/validate", Access::user, post_validate},
      {"GET", "/experiments", Access::read, get_experiments},
      {"GET", "/experiments/{experiment}", Access::read, get_experiment},
      {"GET", "/jobs", Access::read, get_jobs},
      {"GET", "/jobs/{job}", Access::read, get_job},
      {"POST", "/jobs/{job}/cancel", Access::user, post_cancel},
      {"POST", "/jobs/{job}/hold", Access::user, post_hold},
      {"POST", "/jobs/{job}/release", Access::user, post_release},
      {"POST", "/jobs/{job}/requeue", Access::user, post_requeue},
      {"POST", "/jobs/{job}/priority", Access::user, post_priority},
      {"GET", "/jobs/{job}/why", Access::read, get_why},
      {"GET", "/jobs/{job}/events", Access::read, get_job_events},
      {"GET", "/jobs/{job}/metrics", Access::read, get_metrics},
      {"GET", "/jobs/{job}/series", Access::read, get_series},
      {"GET", "/jobs/{job}/logs", Access::read, get_logs},
      {"GET", "/accounts", Access::read, get_accounts},
      {"POST", "/accounts/{account}", Access::user, post_account},
      {"GET", "/queue", Access::read, get_queue},
      {"GET", "/nodes", Access::read, get_nodes},
      {"GET", "/nodes/{node}", Access::read, get_node},
      {"POST", "/nodes/{node}/drain", Access::user, post_drain},
      {"POST", "/nodes/{node}/resume", Access::user, post_resume},
      {"POST", "/nodes/{node}/reserve", Access::user, post_reserve},
      {"POST", "/nodes/{node}/unreserve", Access::user, post_unreserve},
      {"POST", "/nodes/{node}/labels", Access::user, post_labels},
      {"GET", "/live", Access::read, get_live},
      {"POST", "/nodes/{node}/sync", Access::agent, post_sync},
      {"POST", "/nodes/{node}/streams", Access::agent, post_streams},
  };
  return table;
}

}  // namespace podium
