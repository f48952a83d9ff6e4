// Whole tensors in memory, put together from what the ranks of one model copy hold of them.
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

// `flat`, in host memory, is laid out like the store's weights: the weights themselves, or gradients.
// Collective over the world; the tensors, by name, are on its rank 0, and the result is empty elsewhere.
std::vector<FullTensor> gather_full(ParallelGroups& groups, const ParameterStore& parameters,
                                    std::span<const float> flat);

}  // namespace podium
