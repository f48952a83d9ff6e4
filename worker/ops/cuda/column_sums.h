// Sums over the rows of a tensor, for the gradients of biases and of tables with few rows.
#pragma once

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cuda {

// Rows whose key is `key`; without keys all rows.
struct RowFilter {
  const std::int32_t* keys = nullptr;  // [rows], device memory
  std::int32_t key = 0;
};

// to[column] += the sum over the rows of x [rows, columns] that pass the filter, in a fixed order.
void add_column_sums(Context& context, ConstTensorView x, const RowFilter& filter, float* to);

}  // namespace podium::ops::cuda
