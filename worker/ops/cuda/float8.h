// CUDA side of worker/ops/float8.h's conversion; its products are in linear.cc.
#pragma once

#include "worker/ops/float8.h"

namespace podium::ops::cuda {

void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out);

}  // namespace podium::ops::cuda
