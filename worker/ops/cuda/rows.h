// CUDA side of worker/ops/rows.h.
#pragma once

#include "worker/ops/rows.h"

namespace podium::ops::cuda {

void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows, TensorView y);
void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                      TensorView dx);

}  // namespace podium::ops::cuda
