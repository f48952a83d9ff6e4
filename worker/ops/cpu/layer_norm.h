// One row of a layer normalisation, for the ops that are made of it.
#pragma once

#include <cstdint>

#include "worker/ops/layer_norm.h"

namespace podium::ops::cpu {

// y = the normalised x, which it may be; statistics: mean and inverse standard deviation. Of f32, bf16 and
// f16.
template <class T>
void normalise_row(const T* x, std::int64_t columns, const LayerNormParameters& parameters, T* y,
                   float* statistics);

}  // namespace podium::ops::cpu
