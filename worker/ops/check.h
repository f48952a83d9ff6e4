// What every op checks before it dispatches.
#pragma once

#include <string>

#include "worker/ops/dropout.h"
#include "worker/ops/quantised.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

inline void check_tensor(const ConstTensorView& tensor, DType dtype, const Shape& shape, const char* name) {
  PODIUM_CHECK(tensor.dtype == dtype && tensor.shape == shape,
               std::string(name) + " is " + std::string(to_string(tensor.dtype)) + to_string(tensor.shape) +
                   " where " + std::string(to_string(dtype)) + to_string(shape) + " is needed");
}

inline void check_quantised(const ConstTensorView& tensor, const Shape& shape, const char* name) {
  PODIUM_CHECK(is_quantised(tensor.dtype), std::string(name) + " must be i8 or e4m3");
  check_tensor(tensor, tensor.dtype, shape, name);
}

inline void check_dropout_rows(const Dropout& dropout, std::int64_t rows) {
  PODIUM_CHECK(dropout.rows.empty() || static_cast<std::int64_t>(dropout.rows.size()) == rows,
               "a dropout has one global number for every row, or none");
}

}  // namespace podium::ops
