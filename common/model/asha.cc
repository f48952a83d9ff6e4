#include "common/model/asha.h"

#include <nlohmann/json.hpp>

#include "common/model/codec.h"

namespace podium {
namespace {

constexpr EnumNames<Goal, 2> kGoals{{{Goal::min, "min"}, {Goal::max, "max"}}};

}  // namespace

std::vector<std::int64_t> rung_steps(const Asha& asha) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = asha.min_steps; step < asha.max_steps; step *= asha.reduction) {
    steps.push_back(step);
    if (step > asha.max_steps / asha.reduction) break;
  }
  return steps;
}

std::string_view to_string(Goal goal) { return enum_name(kGoals, goal); }
Goal goal_from(std::string_view text) { return enum_value(kGoals, text, "goal"); }

nlohmann::json to_json(const Asha& asha) {
  return {{"metric", asha.metric},
          {"goal", to_string(asha.goal)},
          {"min_steps", asha.min_steps},
          {"max_steps", asha.max_steps},
          {"reduction", asha.reduction}};
}

Asha asha_from_json(const nlohmann::json& json) {
  return {json.at("metric"), goal_from(json.at("goal").get<std::string>()), json.at("min_steps"),
          json.at("max_steps"), json.at("reduction")};
}

}  // namespace podium
