// Sums over the rows of a tensor, for the gradients of biases and of tables with few rows; in a fixed order.
#pragma once

#include "worker/ops/gelu.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cuda {

// Rows whose key is `key`; without keys all rows.
struct RowFilter {
  const std::int32_t* keys = nullptr;  // [rows], device memory
  std::int32_t key = 0;
};

// to[column] += the sum over the rows of x [rows, columns] that pass the filter. `to`, f32, may have fewer
// columns.
void add_column_sums(Context& context, ConstTensorView x, const RowFilter& filter, TensorView to);

// gelu_backward(dy), and to[column] += the sum over the rows of dy, in one pass.
void gelu_backward_and_add_column_sums(Context& context, const SavedGelu& saved, TensorView dy,
                                       TensorView to);

}  // namespace podium::ops::cuda
