// The trials of a sweep that ends losing trials, as JSON: the reports of each at its rungs, the best so far,
// and the device time spent next to that of all trials trained to their ends.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "coordinator/api/study_members.h"

namespace podium {

nlohmann::json asha_json(const SweepView& sweep, const std::vector<StudyMember>& members);

nlohmann::json trial_json(const StudyMember& member, const Asha& rule);

}  // namespace podium
