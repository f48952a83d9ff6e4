// Weights of which some are pruned for good: such a weight is -0.0. An update of a weight that is not pruned
// gives +0.0 where it gives zero, so weights say by themselves which are pruned, in every checkpoint and on
// every layout.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "worker/tensor/context.h"

namespace podium::ops {

// constexpr, so that device code may call it.
constexpr bool is_pruned(float weight) { return std::bit_cast<std::uint32_t>(weight) == 0x80000000U; }

// gradients = 0 where the weight is pruned, in the context's memory: an optimizer whose moments were 0 then
// leaves it as it is.
void clear_pruned(Context& context, std::span<const float> weights, std::span<float> gradients);

}  // namespace podium::ops
