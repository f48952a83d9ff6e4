// Jobs as the API shows them: rows from disk and, from memory, why each waits. All of it is durable on
// return.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/api/api.h"

namespace podium {

// `revision`: LiveStream::take_id() before they were read.
awaitable<nlohmann::json> jobs_json(Api& api, std::vector<JobView> jobs, std::int64_t revision);

// The jobs that `job` names, 1 to 50 of them, in its order.
std::vector<JobId> jobs_asked(Query& query);

// A filter that names what there is not and has not been: a slip that would read as "no such jobs".
struct UnknownName {
  const char* field;
  std::string why;
};
std::vector<UnknownName> unknown_names(Reader& reader, const JobFilter& filter);

// Nothing when there is no such job.
awaitable<std::optional<nlohmann::json>> read_job(Api& api, JobId job);

}  // namespace podium
