// Conversion between f32 and bf16 in bulk.
#pragma once

#include <cstdint>

#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

void widen(const BFloat16* from, std::int64_t count, float* to, int threads);
void narrow(const float* from, std::int64_t count, BFloat16* to, int threads);  // to nearest even

}  // namespace podium::ops::cpu
