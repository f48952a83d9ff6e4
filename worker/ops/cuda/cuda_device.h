// CUDA's devices behind worker/tensor/device.h.
#pragma once

#include <memory>
#include <vector>

#include "worker/tensor/device.h"

namespace podium::ops::cuda {

// Those this library holds code for; DeviceUnavailable says why there is none.
std::vector<DeviceDescription> usable_devices();
std::unique_ptr<Device> open_device(int index);

}  // namespace podium::ops::cuda
