// Studies as the API shows them: an experiment of several jobs, by `scaling` or `sweep`. Nothing of one is
// kept: all is derived from the experiment's spec and its jobs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/store/reader.h"

namespace podium {

// Without its jobs' figures.
nlohmann::json study_json(const StudyView& study);

// With tables, members and warnings, on a thread of the pool. `now`: until when jobs that have not ended
// count.
nlohmann::json study_details_json(Reader& reader, const StudyView& study, Time now);

}  // namespace podium
