// The shim's device, whose memory the host cannot touch but by copies.
#include "tests/worker/device/device_under_test.h"
#include "worker/ops/cuda/backend.h"
#include "worker/ops/cuda/cuda_device.h"

namespace podium::test {

JobDevice open_device_under_test() {
  JobDevice opened;
  opened.device = ops::cuda::open_device(ops::cuda::visible_devices().front().index);
  opened.stream = opened.device->make_stream();
  opened.backend = &ops::cuda::kBackend;
  return opened;
}

}  // namespace podium::test
