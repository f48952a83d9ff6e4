// Products of few rows with a weight as it lies in memory, f32, bf16 or f16: a token a sequence, where all
// there is to do is to read the weight once at the memory's speed. Each row's sums are the same bits whatever
// other rows there are, and with any number of threads.
#pragma once

#include <functional>

#include "worker/ops/cpu/parallel.h"
#include "worker/ops/inference_linear.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

// Up to so many rows this is no slower than a product of packed matrices.
inline constexpr std::int64_t kMostFewRows = kMostLoneRows;

inline bool multiplies_few_rows(std::int64_t rows, DType weight) {
  return rows <= kMostFewRows && (weight == DType::f32 || weight == DType::bf16 || weight == DType::f16);
}

// sums[r, o] = sum_k x[r, k] w[o, k]. x [rows, in] and weight [out, in] of one type, sums f32 [rows, out].
// Each thread calls `finish` with the outputs that it has summed up, of all rows; it must not throw.
void multiply_few_rows(Context& context, ConstTensorView x, ConstTensorView weight, TensorView sums,
                       const std::function<void(Range outputs)>& finish);

}  // namespace podium::ops::cpu
