// Conversion between f32 and the 16-bit types in bulk.
#pragma once

#include <cstdint>

#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

// `from` holds `count` elements of a floating-point type.
void widen(const void* from, DType type, std::int64_t count, float* to, int threads);
void narrow(const float* from, std::int64_t count, void* to, DType type, int threads);  // to nearest even

}  // namespace podium::ops::cpu
