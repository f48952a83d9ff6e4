// CUDA side of worker/ops/dropout.h.
#pragma once

#include "worker/ops/dropout.h"

namespace podium::ops::cuda {

void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y);
void add_dropout(Context& context, TensorView branch, ConstTensorView residual, const Dropout& dropout);

}  // namespace podium::ops::cuda
