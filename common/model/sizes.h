// The numbers of devices on which an elastic job may run: every number in its range that fits its layout and
// keeps the global batch exactly, so that a change of size does not change the training.
#pragma once

#include <cstddef>
#include <vector>

#include "common/model/layout_rules.h"
#include "common/model/spec.h"

namespace podium {

struct SizeRules {
  int min = 1, max = 1;
  int per_node = 0;  // 0: any
  LayoutRules layout;
  std::vector<BatchSpec> batches;  // of every phase; a program of the user's own has none
};

constexpr std::size_t kMostSizes = 256;  // of one job: a plan may try them all
constexpr int kMostDevices = 65536;      // of one job, as the schema has it

SizeRules size_rules(const JobSpec& spec);

// Whether `devices` fits the rules, within the range or not.
bool permits(const SizeRules& rules, int devices);

// The permitted sizes within the range, ascending, at most `most`.
std::vector<int> permitted_sizes(const SizeRules& rules, std::size_t most = kMostSizes);

}  // namespace podium
