// The entries of libpodium_cuda.so; see worker/ops/device_library.h.
#include "worker/ops/cuda/backend.h"
#include "worker/ops/cuda/cublas_lt.h"
#include "worker/ops/cuda/cuda_device.h"
#include "worker/ops/cuda/inference/entry.h"
#include "worker/ops/device_library.h"

namespace podium::ops::cuda {
namespace {

class CudaLibrary final : public DeviceLibrary {
 public:
  std::vector<DeviceDescription> devices() override { return visible_devices(); }
  std::unique_ptr<Device> open(int index) override {
    cublas_lt();  // says at once where it is missing
    return open_device(index);
  }
  const Backend& backend() const override { return kBackend; }
};

}  // namespace
}  // namespace podium::ops::cuda

extern "C" {

__attribute__((visibility("default"))) const char* podium_device_library_build() {
  return PODIUM_DEVICE_LIBRARY_BUILD;
}

__attribute__((visibility("default"))) podium::ops::DeviceLibrary* podium_device_library() {
  static podium::ops::cuda::CudaLibrary library;
  return &library;
}

__attribute__((visibility("default"))) const podium::ops::cuda::InferenceEntry* podium_inference_entry() {
  using namespace podium::ops::cuda;
  static constexpr InferenceEntry kEntry{inference_ways, compute};
  return &kEntry;
}
}
