// Studies as the API shows them: experiments of several jobs, by `scaling` or `sweep`. A study is not stored:
// everything is derived from the experiment's spec and its jobs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/store/reader.h"

namespace podium {

// Without its jobs' figures.
nlohmann::json study_json(const StudyView& study);

// With tables, members and warnings; call it on a pool. Running jobs count until `now`.
nlohmann::json study_details_json(Reader& reader, const StudyView& study, Time now);

}  // namespace podium
