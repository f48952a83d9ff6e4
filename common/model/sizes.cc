#include "common/model/sizes.h"

#include <algorithm>
#include <numeric>

namespace podium {
namespace {

// Global = data-parallel copies × micro × micro batches a step, which an interleaved pipeline wants in whole
// rounds.
bool divides(const SizeRules& rules, const BatchSpec& batch, int copies) {
  const std::int64_t unit = batch.micro * copies;
  return batch.global % unit == 0 && (rules.interleave == 1 || batch.global / unit % rules.pipeline == 0);
}

int step_of(const SizeRules& rules) {
  return std::lcm(rules.tensor * rules.pipeline, std::max(rules.per_node, 1));
}

}  // namespace

SizeRules size_rules(const JobSpec& spec) {
  SizeRules rules;
  rules.min = spec.resources.devices;
  rules.max = std::max(spec.resources.devices, spec.resources.max_devices);
  rules.per_node = spec.resources.per_node;
  if (!spec.command.empty()) return rules;
  rules.tensor = spec.parallel.tensor;
  rules.pipeline = spec.parallel.pipeline;
  rules.interleave = spec.parallel.interleave;
  rules.batches.push_back(spec.training.batch);
  for (const PhaseSpec& phase : spec.training.phases) rules.batches.push_back(phase.batch);
  return rules;
}

bool permits(const SizeRules& rules, int devices) {
  if (devices < 1 || devices % step_of(rules) != 0) return false;
  const int copies = devices / (rules.tensor * rules.pipeline);
  return std::ranges::all_of(rules.batches,
                             [&](const BatchSpec& batch) { return divides(rules, batch, copies); });
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
