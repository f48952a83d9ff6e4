// Jobs as the API shows them: rows from disk, with the reason why each waits from memory. On return all of it
// is durable.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/api/api.h"

namespace podium {

// `revision`: LiveStream::take_id() before they were read.
awaitable<nlohmann::json> jobs_json(Api& api, std::vector<JobView> jobs, std::int64_t revision);

// The 1 to 50 jobs that the query's `job` names, in its order.
std::vector<JobId> jobs_asked(Query& query);

// A filter that names something that never existed: a typing error, which must not look like an empty list.
struct UnknownName {
  const char* field;
  std::string why;
};
std::vector<UnknownName> unknown_names(Reader& reader, const JobFilter& filter);

// Nothing where there is no such job.
awaitable<std::optional<nlohmann::json>> read_job(Api& api, JobId job);

}  // namespace podium
