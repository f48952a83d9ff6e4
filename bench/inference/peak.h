// What this processor multiplies and adds at best: registers alone, without memory.
#pragma once

#include "worker/tensor/dtype.h"

namespace podium {

// Operations a second of so many threads, a multiplication and an addition counting as two; 0 where the
// processor has no instruction of AVX-512 for the type (f32, bf16 or i8).
double peak_operations(DType type, int threads);

}  // namespace podium
