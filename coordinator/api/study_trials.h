// The trials of a sweep that ends those that lose, as JSON: what each told at its rungs, the best so far, and
// what was spent beside what all trials would have taken to their ends.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "coordinator/api/study_members.h"

namespace podium {

nlohmann::json asha_json(const SweepView& sweep, const std::vector<StudyMember>& members);

nlohmann::json trial_json(const StudyMember& member, const Asha& rule);

}  // namespace podium
