// CUDA's devices behind worker/tensor/device.h.
#pragma once

#include <memory>
#include <vector>

#include "worker/tensor/device.h"

namespace podium::ops::cuda {

// Those the driver shows this process; DeviceUnavailable says why there is none. Touches none of them.
std::vector<DeviceDescription> visible_devices();
// DeviceUnavailable where this library holds no code for it.
std::unique_ptr<Device> open_device(int index);

}  // namespace podium::ops::cuda
