// What lists of jobs are chosen by, as people write it. What they write wrong is a std::invalid_argument
// whose text can follow the name of the option or parameter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/job.h"

namespace podium {

// "queued,running"; what is empty between commas is passed over.
std::vector<JobState> job_states_from(std::string_view list);

// "team=nlp" or "team:nlp": key and value.
std::pair<std::string, std::string> label_from(std::string_view text);

}  // namespace podium
