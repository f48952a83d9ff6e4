#include "worker/train/job_device.h"

#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <string_view>

#include "worker/comm/device_transport.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/nccl_library.h"
#include "worker/comm/single_communicator.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

JobDevice open_gpu(int local_rank) {
  ops::DeviceLibrary& library = ops::open_device_library(ops::cuda_library_path());
  const std::vector<DeviceDescription> devices = library.devices();
  JobDevice opened;
  opened.device = library.open(devices[static_cast<std::size_t>(local_rank) % devices.size()].index);
  opened.stream = opened.device->make_stream();
  opened.backend = &library.backend();
  const char* const graphs = std::getenv("PODIUM_CUDA_GRAPHS");
  opened.recordings = graphs == nullptr || std::string_view(graphs) != "0";
  return opened;
}

}  // namespace

void JobDevice::lend_to(Context& context) const {
  context.memory = {device.get(), stream.get()};
  context.backend = backend;
  context.recordings = recordings;
}

JobDevice open_job_device(const std::string& kind, int local_rank) {
  if (kind == "cpu") return {};
  if (kind != "gpu")
    throw Failure(WorkerExit::no_device,
                  "device kind \"" + kind + "\": podium-worker computes on cpu and gpu");
  try {
    return open_gpu(local_rank);
  } catch (const ops::DeviceUnavailable& reason) {
    throw Failure(WorkerExit::no_device, std::string("no gpu to compute on: ") + reason.what());
  }
}

std::string describe_device(const Context& context) {
  if (context.memory.on_host())
    return fmt::format("cpu, {} thread{}", context.threads, context.threads == 1 ? "" : "s");
  const DeviceDescription& device = context.memory.device->description();
  return fmt::format("gpu {}, {}, {}", device.index, device.name, device.architecture);
}

std::unique_ptr<Communicator> meet_world(const GlooOptions& meeting, const MemorySpace& memory) {
  if (meeting.size == 1) return std::make_unique<SingleCommunicator>();
  auto host = std::make_unique<GlooCommunicator>(meeting);
  if (memory.on_host()) return host;
  const char* const choice = std::getenv("PODIUM_COMMUNICATOR");
  try {
    return make_device_communicator(std::move(host), memory, meeting, choice == nullptr ? "" : choice);
  } catch (const nccl::Unavailable& reason) {
    throw Failure(WorkerExit::no_device, reason.what());
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
}

}  // namespace podium
