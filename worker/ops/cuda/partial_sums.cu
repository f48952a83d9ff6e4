// A block adds 32 columns: neighbouring lanes read neighbouring columns and each warp takes every 16th row,
// eight at a time, for nothing here but the wait for memory counts; then the warps' sums are added.
#include "worker/ops/cuda/partial_sums.h"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kWarps = 16;
constexpr unsigned kRowsAhead = 8;

template <std::size_t kSums>
struct Targets {
  float* to[kSums];
};

template <std::size_t kSums>
__global__ void __launch_bounds__(kWarps * 32)
    add_partials_kernel(const float* partials, unsigned rows, std::int64_t columns, std::int64_t wanted,
                        Targets<kSums> targets) {
  __shared__ float warp_sums[kWarps][32];
  float* const to = targets.to[blockIdx.y];
  if (to == nullptr) return;
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  float sum = 0.0F;
  for (unsigned first = threadIdx.y; first < rows && column < wanted; first += kRowsAhead * kWarps) {
    float values[kRowsAhead];
#pragma unroll
    for (unsigned k = 0; k < kRowsAhead; ++k) {
      const unsigned row = first + k * kWarps;
      values[k] = row < rows ? partials[(row * kSums + blockIdx.y) * columns + column] : 0.0F;
    }
#pragma unroll
    for (unsigned k = 0; k < kRowsAhead; ++k) sum += values[k];
  }
  warp_sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= wanted) return;
#pragma unroll
  for (unsigned warp = 1; warp < kWarps; ++warp) sum += warp_sums[warp][threadIdx.x];
  to[column] += sum;
}

template <std::size_t kSums>
void run(Context& context, const float* partials, unsigned rows, std::int64_t columns, std::int64_t wanted,
         const std::array<float*, kSums>& to) {
  Targets<kSums> targets;
  for (std::size_t s = 0; s < kSums; ++s) targets.to[s] = to[s];
  launch(context, "add_partials", add_partials_kernel<kSums>,
         dim3(static_cast<unsigned>((wanted + 31) / 32), kSums), dim3(32, kWarps), 0, partials, rows, columns,
         wanted, targets);
}

}  // namespace

void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t columns,
                  std::int64_t wanted, const std::array<float*, 1>& to) {
  run(context, partials, rows, columns, wanted, to);
}

void add_partials(Context& context, const float* partials, unsigned rows, std::int64_t columns,
                  std::int64_t wanted, const std::array<float*, 3>& to) {
  run(context, partials, rows, columns, wanted, to);
}

}  // namespace podium::ops::cuda
