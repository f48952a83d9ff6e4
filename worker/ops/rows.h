// Picking rows out of a tensor: what feeds the heads (masked positions, first tokens), and the way back.
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// y[i] = x[rows[i]]; rows of y beyond rows.size() become zero, and so do those whose row is negative.
void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows, TensorView y);

// dx[rows[i]] += dy[i]; no row may be named twice. A negative row is none.
void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                      TensorView dx);

}  // namespace podium::ops
