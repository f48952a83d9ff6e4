// Parses the filters of lists of jobs as people write them. A mistake is a std::invalid_argument whose text
// can follow the name of the option or parameter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/job.h"

namespace podium {

// "queued,running"; empty items are skipped.
std::vector<JobState> job_states_from(std::string_view list);

// "team=nlp" or "team:nlp": key and value.
std::pair<std::string, std::string> label_from(std::string_view text);

}  // namespace podium
