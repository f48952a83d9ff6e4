// Products of i8 with exact sums where there are no panels (panels.h): on processors with AMX by oneDNN, on
// others by instructions that every processor has.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/ops/cpu/state.h"
#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cpu {

// A weight [out, in] in i8. multiply(): sums = x w^T, f32 [rows, out], of x [rows, in].
class IntegerWeight {
 public:
  virtual ~IntegerWeight() = default;
  virtual void multiply(Context& context, ConstTensorView x, TensorView sums) = 0;
};

// `values` stay as they are.
std::unique_ptr<IntegerWeight> integer_weight_for_matrix_units(ConstTensorView values);
std::unique_ptr<IntegerWeight> integer_weight_for_any_processor(ConstTensorView values);

}  // namespace podium::ops::cpu
