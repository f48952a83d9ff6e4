// A pipelined gang that no leaf switch holds: which stages go under which switch. The ranks of a stage are
// neighbours and sum their gradients over all of it, which is most of what a gang sends, so that a stage
// stays under one switch where it can; between stages only activations cross.
#pragma once

#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

struct LeafStages {
  std::size_t leaf = 0;
  int stages = 0;  // that it takes
};

// On few switches, under one spine where one holds all. Empty where the gang has no stages, their ranks do
// not fill their nodes, or switches near enough do not hold every stage whole. `whole`: as for Need.
std::vector<LeafStages> spread_stages(const FreeDevices& free, const Shape& shape, bool whole);

}  // namespace podium
