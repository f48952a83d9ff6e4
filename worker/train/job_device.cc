#include "worker/train/job_device.h"

#include "worker/train/failure.h"

namespace podium {
namespace {

JobDevice open_gpu(int local_rank, int local_ranks) {
  ops::DeviceLibrary& library = ops::open_device_library(ops::cuda_library_path());
  const std::vector<DeviceDescription> devices = library.devices();
  const auto count = static_cast<int>(devices.size());
  JobDevice opened;
  opened.device = library.open(devices[static_cast<std::size_t>(local_rank % count)].index);
  opened.stream = opened.device->make_stream();
  opened.ops = &library.ops();
  opened.shared = local_ranks > count;
  return opened;
}

}  // namespace

void JobDevice::lend_to(Context& context) const {
  context.memory = {device.get(), stream.get()};
  context.device_ops = ops;
}

JobDevice open_job_device(const std::string& kind, int local_rank, int local_ranks) {
  if (kind == "cpu") return {};
  if (kind != "gpu")
    throw Failure(WorkerExit::no_device,
                  "device kind \"" + kind + "\": podium-worker computes on cpu and gpu");
  try {
    return open_gpu(local_rank, local_ranks);
  } catch (const ops::DeviceUnavailable& reason) {
    throw Failure(WorkerExit::no_device, std::string("no gpu to compute on: ") + reason.what());
  }
}

}  // namespace podium
