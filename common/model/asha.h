// The rule of a sweep that ends its losing trials: successive halving as in ASHA (coordinator/core/sweeps).
// Rungs are numbered from 1; rung k is at step min_steps × reduction^(k-1), below max_steps.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

enum class Goal { min, max };

struct Asha {
  std::string metric;
  Goal goal = Goal::min;
  std::int64_t min_steps = 1;
  std::int64_t max_steps = 2;
  int reduction = 4;

  bool better(double a, double b) const { return goal == Goal::min ? a < b : a > b; }
  bool operator==(const Asha&) const = default;
};

// The steps of the rungs, in ascending order.
std::vector<std::int64_t> rung_steps(const Asha& asha);

std::string_view to_string(Goal goal);
Goal goal_from(std::string_view text);  // throws std::invalid_argument

nlohmann::json to_json(const Asha& asha);
Asha asha_from_json(const nlohmann::json& json);  // throws nlohmann::json::exception or std::invalid_argument

}  // namespace podium
