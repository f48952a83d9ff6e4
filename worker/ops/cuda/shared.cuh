// The dynamic shared memory of a block, as large as its launch asked for. Kernels carve it up themselves.
#pragma once

#include <cuda_runtime.h>

namespace podium::ops::cuda {

extern __shared__ __align__(1024) unsigned char dynamic_shared[];

}  // namespace podium::ops::cuda
