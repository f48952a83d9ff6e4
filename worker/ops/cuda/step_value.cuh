// StepValue within a kernel.
#pragma once

#include <cuda_runtime.h>

#include "worker/ops/step_value.h"

namespace podium::ops::cuda {

template <class T>
__device__ __forceinline__ T current(const StepValue<T>& value) {
  return value.device == nullptr ? value.value : *value.device;
}

}  // namespace podium::ops::cuda
