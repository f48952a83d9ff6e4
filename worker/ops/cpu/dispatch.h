// Turns a run-time element type into a template argument, for the types CPU kernels compute on.
#pragma once

#include "common/base/check.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {

template <class T>
struct Type {
  using type = T;
};

// body(Type<float>{}), body(Type<BFloat16>{}) or body(Type<Float16>{})
template <class Body>
void with_float_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f32:
      return body(Type<float>{});
    case DType::bf16:
      return body(Type<BFloat16>{});
    case DType::f16:
      return body(Type<Float16>{});
    default:
      PODIUM_CHECK(false, "CPU kernels compute on f32, bf16 and f16 only");
  }
}

}  // namespace podium::ops::cpu
