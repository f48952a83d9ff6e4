#include "common/model/sizes.h"

#include <algorithm>
#include <numeric>

namespace podium {
namespace {

int step_of(const SizeRules& rules) {
  return std::lcm(rules.layout.devices_unit(), std::max(rules.per_node, 1));
}

}  // namespace

SizeRules size_rules(const JobSpec& spec) {
  SizeRules rules;
  rules.min = spec.resources.devices;
  rules.max = std::max(spec.resources.devices, spec.resources.max_devices);
  rules.per_node = spec.resources.per_node;
  if (!spec.command.empty()) return rules;
  rules.layout = layout_rules(spec.parallel);
  rules.batches.push_back(spec.training.batch);
  for (const PhaseSpec& phase : spec.training.phases) rules.batches.push_back(phase.batch);
  return rules;
}

bool permits(const SizeRules& rules, int devices) {
  if (devices < 1 || devices % step_of(rules) != 0) return false;
  const int copies = devices / rules.layout.devices_unit();
  return std::ranges::all_of(rules.batches, [&](const BatchSpec& batch) {
    return batch.global % rules.layout.batch_unit(batch.micro, copies) == 0;
  });
}

std::vector<int> permitted_sizes(const SizeRules& rules, std::size_t most) {
  std::vector<int> sizes;
  const int step = step_of(rules);
  for (int devices = (rules.min + step - 1) / step * step; devices <= rules.max && sizes.size() < most;
       devices += step)
    if (permits(rules, devices)) sizes.push_back(devices);
  return sizes;
}

}  // namespace podium
