// Conversion between floating-point types in bulk.
#pragma once

#include <cstdint>

#include "worker/tensor/dtype.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

// `from` holds `count` elements of a floating-point type.
void widen(const void* from, DType type, std::int64_t count, float* to, int threads);
void narrow(const float* from, std::int64_t count, void* to, DType type, int threads);  // to nearest even
// From f32, bf16, f16 or e4m3 to one of the first three, of the same shape.
void convert(ConstTensorView from, TensorView to, int threads);

}  // namespace podium::ops::cpu
