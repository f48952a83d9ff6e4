// The rules about a range of devices, {min: 4, max: 16}: the job must be able to run on some of them.
#include <spdlog/fmt/fmt.h>

#include "common/model/sizes.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

constexpr const char* kDevices = "/resources/devices";

int small(std::optional<std::int64_t> value, int otherwise) {
  return static_cast<int>(value.value_or(otherwise));
}

// Nothing where a value that the rule needs is missing or was refused.
std::optional<SizeRules> rules_of(const Facts& facts) {
  const auto min = facts.integer("/resources/devices/min");
  const auto max = facts.integer("/resources/devices/max");
  const auto per_node = facts.integer("/resources/per_node");
  if (!min || !max || !per_node) return std::nullopt;
  SizeRules rules{.min = small(min, 0), .max = small(max, 0), .per_node = small(per_node, 0)};
  if (facts.has("/command")) return rules;
  const auto layout = layout_rules(facts, {"tensor", "pipeline", "interleave"});
  if (!layout) return std::nullopt;
  rules.layout = *layout;
  for (const PhaseFacts& phase : phases_of(facts)) {
    const auto global = phase.integer("/batch/global");
    const auto micro = phase.integer("/batch/micro");
    if (!global || !micro) return std::nullopt;
    if (!phase.changes({"/batch/global", "/batch/micro"})) continue;
    rules.batches.push_back({*global, *micro});
  }
  return rules;
}

// What a permitted number must be: "a multiple of 4 (parallel.tensor × parallel.pipeline)", and so on.
std::string demands(const SizeRules& rules) {
  std::vector<std::string> all;
  if (const LayoutRules& layout = rules.layout; layout.devices_unit() > 1)
    all.push_back(fmt::format("be a multiple of parallel.tensor × parallel.pipeline ({} × {})", layout.tensor,
                              layout.pipeline));
  if (rules.per_node > 1)
    all.push_back(fmt::format("be a multiple of resources.per_node ({})", rules.per_node));
  for (const BatchSpec& batch : rules.batches)
    all.push_back(
        fmt::format("cut a batch of {} evenly into micro batches of {}", batch.global, batch.micro));
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + all[i];
  return text;
}

// "; 4 or 8 would do": the nearest numbers outside of the range.
std::string nearest_sizes(SizeRules rules) {
  int below = rules.min - 1;
  while (below > 0 && !permits(rules, below)) --below;
  rules.min = rules.max + 1;
  rules.max = kMostDevices;
  const std::vector<int> above = permitted_sizes(rules, 1);
  if (below == 0 && above.empty()) return "; no number would do";
  if (below == 0) return fmt::format("; {} would do", above.front());
  if (above.empty()) return fmt::format("; {} would do", below);
  return fmt::format("; {} or {} would do", below, above.front());
}

}  // namespace

void check_elastic(const Facts& facts, Problems& problems) {
  if (!facts.has("/resources/devices/min") && !facts.has("/resources/devices/max")) return;
  if (facts.has("/scaling"))
    problems.add(kDevices,
                 "a scaling study runs each job on a number of devices of its own; write one number under "
                 "resources.devices, which the batch is for");
  const auto rules = rules_of(facts);
  if (!rules) return;
  if (rules->min > rules->max) {
    problems.add("/resources/devices/min",
                 fmt::format("resources.devices.min ({}) must not be above resources.devices.max ({})",
                             rules->min, rules->max));
    return;
  }
  const std::size_t permitted = permitted_sizes(*rules, kMostSizes + 1).size();
  if (permitted == 0)
    problems.add(kDevices, fmt::format("the job can run on none of {} to {} devices: their number must {}{}",
                                       rules->min, rules->max, demands(*rules), nearest_sizes(*rules)));
  if (permitted > kMostSizes)
    problems.add(kDevices,
                 fmt::format("resources.devices permits more than {} numbers from {} to {}; narrow the range "
                             "or set resources.per_node",
                             kMostSizes, rules->min, rules->max));
}

}  // namespace podium
