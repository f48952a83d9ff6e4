// The accelerator that a worker process computes on.
#pragma once

#include <memory>
#include <string>

#include "worker/ops/device_library.h"
#include "worker/tensor/context.h"

namespace podium {

// Empty for the CPU. Must outlive the contexts that use it.
struct JobDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
  ops::DeviceOps* ops = nullptr;
  bool shared = false;  // with other ranks of this machine, for want of devices

  void lend_to(Context& context) const;
};

// The device of a rank of this machine, one of `local_ranks`: CUDA_VISIBLE_DEVICES says which there are.
// `kind` is cpu or gpu. Throws Failure(no_device) saying what is missing.
JobDevice open_job_device(const std::string& kind, int local_rank, int local_ranks);

}  // namespace podium
