// The metrics of podium-worker that can be targets, and the better direction of each.
#pragma once

#include <array>
#include <string>

#include "common/model/asha.h"
#include "common/spec/facts.h"
#include "common/spec/problems.h"

namespace podium {

struct GoalMetric {
  const char* key;
  Goal goal;  // whether less or more of it is better
  // That report it; none: all. The task classify is called regression where it is one.
  std::array<const char*, 3> tasks;
};

// Null for any other.
const GoalMetric* find_goal(const std::string& key);

// Whether a user's own program may report a metric of this name.
bool is_plausible_metric(const std::string& key);

// Adds a problem at `pointer`, which names `metric`, unless podium-worker reports this metric for the family
// and in this job.
void check_reported(const Facts& facts, const std::string& pointer, const std::string& metric,
                    Problems& problems);

}  // namespace podium
