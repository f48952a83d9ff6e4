// Places the stages of a pipelined gang that fits under no single leaf switch. A stage stays under one switch
// where it can: its ranks sum their gradients, which is most of a gang's traffic, while stages exchange only
// activations.
#pragma once

#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

struct LeafStages {
  std::size_t leaf = 0;
  int stages = 0;  // how many go under it
};

// Chooses few switches, under one spine where possible. Empty where the gang has no stages, where their ranks
// do not fill nodes, or where near switches cannot hold every stage whole. `whole`: as for Need.
std::vector<LeafStages> spread_stages(const FreeDevices& free, const Shape& shape, bool whole);

}  // namespace podium
