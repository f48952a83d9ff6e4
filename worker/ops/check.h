// What every op checks before it dispatches.
#pragma once

#include <string>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

inline void check_cpu(const Context& context) {
  PODIUM_CHECK(context.backend == Backend::cpu, "this build computes on the CPU only");
}

inline void check_tensor(const ConstTensorView& tensor, DType dtype, const Shape& shape, const char* name) {
  PODIUM_CHECK(tensor.dtype == dtype && tensor.shape == shape,
               std::string(name) + " is " + std::string(to_string(tensor.dtype)) + to_string(tensor.shape) +
                   " where " + std::string(to_string(dtype)) + to_string(shape) + " is needed");
}

}  // namespace podium::ops
