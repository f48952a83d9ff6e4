// The CUDA back end's implementation of the ops.
#pragma once

#include <memory>

#include "worker/ops/device_ops.h"

namespace podium::ops::cuda {

std::unique_ptr<DeviceOps> make_cuda_ops();

}  // namespace podium::ops::cuda
