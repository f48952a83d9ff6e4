// Turns a run-time element type into the device's type as a template argument.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/base/check.h"
#include "worker/tensor/tensor.h"

namespace podium::ops::cuda {

template <class T>
struct Type {
  using type = T;
};

// body(Type<float>{}), body(Type<__nv_bfloat16>{}) or body(Type<__half>{})
template <class Body>
void with_device_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f32:
      return body(Type<float>{});
    case DType::bf16:
      return body(Type<__nv_bfloat16>{});
    case DType::f16:
      return body(Type<__half>{});
    default:
      PODIUM_CHECK(false, "CUDA kernels compute on f32, bf16 and f16 only");
  }
}

// The elements of a tensor whose type with_device_type has settled.
template <class T>
T* elements(const TensorView& view) {
  return static_cast<T*>(view.address);
}
template <class T>
const T* elements(const ConstTensorView& view) {
  return static_cast<const T*>(view.address);
}

}  // namespace podium::ops::cuda
