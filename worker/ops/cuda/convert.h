// Copies of f32 values in a 16-bit type.
#pragma once

#include "worker/ops/stochastic_rounding.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cuda {

// Rounded to nearest even. Both in device memory, at multiples of 16 bytes.
void narrow(Context& context, const float* from, std::int64_t count, void* to, DType type);

// to[i] += from[i], which is of a 16-bit type.

// As narrow, of a matrix, rounded at random.
void narrow_stochastically(Context& context, ConstTensorView matrix, const StochasticRounding& rounding,
                           void* to, DType type);

}  // namespace podium::ops::cuda
