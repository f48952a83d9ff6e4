// A thread converts eight neighbouring values.
#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) narrow_kernel(const float* from, std::int64_t count, T* to) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= count) return;
  float values[kVector];
  load(from, at, count, values);
  store(to, at, count, values);
}

}  // namespace

void narrow(Context& context, const float* from, std::int64_t count, void* to, DType type) {
  if (count == 0) return;
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVector;
  const auto blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  with_device_type(type, [&]<class T>(Type<T>) {
    launch(context, "narrow", narrow_kernel<T>, blocks, kThreads, 0, from, count, static_cast<T*>(to));
  });
}

}  // namespace podium::ops::cuda
