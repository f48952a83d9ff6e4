// The machine's first GPU, by way of libpodium_cuda.so.
#include "tests/worker/build_folder.h"
#include "tests/worker/device/device_under_test.h"

namespace podium::test {

JobDevice open_device_under_test() {
  ops::DeviceLibrary& library = ops::open_device_library(cuda_library());
  JobDevice opened;
  opened.device = library.open(library.devices().front().index);
  opened.stream = opened.device->make_stream();
  opened.backend = &library.backend();
  return opened;
}

}  // namespace podium::test
