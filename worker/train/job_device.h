// The accelerator that a worker process computes on, and the communicator that goes with it.
#pragma once

#include <memory>
#include <string>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_meeting.h"
#include "worker/ops/device_library.h"
#include "worker/tensor/context.h"

namespace podium {

// Empty for the CPU. Must outlive the contexts that use it.
struct JobDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
  const ops::Backend* backend = nullptr;
  bool recordings = true;  // Context::recordings

  void lend_to(Context& context) const;
};

// `kind` is cpu or gpu. Each local rank takes a GPU of its own among those that CUDA_VISIBLE_DEVICES shows;
// if there are fewer, ranks share them. Throws Failure(no_device), which says what is missing.
JobDevice open_job_device(const std::string& kind, int local_rank);

// Tells people what `context` computes on: "cpu, 8 threads" or "gpu 3, NVIDIA H100, sm_90".
std::string describe_device(const Context& context);

// Connects all ranks of the meeting, for tensors in `memory`. Throws Failure, PeerLost, AddressInUse or
// StopRequested.
std::unique_ptr<Communicator> meet_world(const GlooOptions& meeting, const MemorySpace& memory);

}  // namespace podium
