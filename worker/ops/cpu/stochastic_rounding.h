// CPU side of worker/ops/stochastic_rounding.h.
#pragma once

#include "worker/ops/stochastic_rounding.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

// to = `matrix`, f32 [rows, columns], rounded to bf16 or f16 and widened again.
void round_stochastically(ConstTensorView matrix, const StochasticRounding& rounding, DType type, float* to,
                          int threads);

}  // namespace podium::ops::cpu
