// What a profile says of a matrix product, and the checks that all kinds of dense layers share.
#pragma once

#include "worker/ops/check.h"
#include "worker/ops/linear.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

// [rows, terms] times [terms, columns]
inline ProfileWork product_work(std::int64_t rows, std::int64_t columns, std::int64_t terms, double bytes) {
  const auto multiplications = static_cast<double>(rows) * static_cast<double>(columns * terms);
  return {.flops = 2 * multiplications, .bytes = bytes, .shape = {rows, columns, terms}};
}

inline void check_product_options(const ProductOptions& options, const TensorView& dx) {
  if (options.gelu.values.address != nullptr) check_tensor(options.gelu.values, dx.dtype, dx.shape, "gelu");
  if (options.column_sums.address != nullptr)
    check_tensor(options.column_sums, DType::f32, Shape{dx.shape[1]}, "column_sums");
}

}  // namespace podium::ops
