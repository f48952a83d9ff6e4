// The shim's device, whose memory the host cannot touch but by copies.
#include "tests/worker/device/device_under_test.h"
#include "worker/ops/cuda/cuda_device.h"
#include "worker/ops/cuda/cuda_ops.h"

namespace podium::test {

JobDevice open_device_under_test() {
  static const std::unique_ptr<ops::DeviceOps> cuda_ops = ops::cuda::make_cuda_ops();
  JobDevice opened;
  opened.device = ops::cuda::open_device(ops::cuda::visible_devices().front().index);
  opened.stream = opened.device->make_stream();
  opened.ops = cuda_ops.get();
  return opened;
}

}  // namespace podium::test
