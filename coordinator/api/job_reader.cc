#include "coordinator/api/job_reader.h"

#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"

namespace podium {

using nlohmann::json;

awaitable<json> jobs_json(Api& api, std::vector<JobView> jobs, std::int64_t revision) {
  json out = json::array();
  for (const JobView& job : jobs) out.push_back(job_json(job, api.loop, revision));
  co_await api.loop.durable();
  co_return out;
}

awaitable<std::optional<json>> read_job(Api& api, JobId job) {
  const std::int64_t revision = api.live.take_id();
  const std::optional<JobView> view =
      co_await api.pool.read([job](Reader& reader) { return reader.job(job); });
  if (!view) co_return std::nullopt;
  json out = job_json(*view, api.loop, revision);
  co_await api.loop.durable();
  co_return out;
}

}  // namespace podium
