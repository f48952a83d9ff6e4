// Puts whole tensors together in memory from the parts that the ranks of one model copy hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/parameters.h"

namespace podium {

struct FullTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row-major
};

// `flat` lies in host memory and is laid out like the store's weights: it holds the weights, or gradients.
// Collective over the world. Returns the tensors, sorted by name, on the world's rank 0 and nothing
// elsewhere.
std::vector<FullTensor> gather_full(ParallelGroups& groups, const ParameterStore& parameters,
                                    std::span<const float> flat);

}  // namespace podium
