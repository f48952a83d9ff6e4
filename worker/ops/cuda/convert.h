// Copies of f32 values in a 16-bit type, rounded to nearest even.
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cuda {

// Both in device memory, at multiples of 16 bytes.
void narrow(Context& context, const float* from, std::int64_t count, void* to, DType type);

}  // namespace podium::ops::cuda
