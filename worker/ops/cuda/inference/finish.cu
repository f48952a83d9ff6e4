// What follows the sums of a product that cuBLASLt computed: one read of them and of the residual, one write.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/inference/finish.cuh"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ float to_f32(std::int32_t value) { return static_cast<float>(value); }

// A thread computes eight neighbouring elements of a row. Grid: (parts of a row, rows).
template <class T>
__global__ void __launch_bounds__(kThreads) finish_kernel(const T* sums, InferenceFinish task) {
  const int column = (static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x)) * kVector;
  if (column >= task.out) return;
  const OutputFactors factors = load_factors(task, column);
  for (int row = static_cast<int>(blockIdx.y); row < task.rows; row += static_cast<int>(gridDim.y)) {
    RawResidual raw;
    if (has_raw_residual(task)) load_raw_residual(task, row, column, raw);
    float v[kVector];
    if constexpr (std::is_same_v<T, std::int32_t>) {
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        v[i] = column + i < task.out ? to_f32(sums[std::int64_t{row} * task.out + column + i]) : 0.0F;
    } else {
      load(sums + std::int64_t{row} * task.out, column, task.out, v);
    }
    finish(task, factors, raw, row, column, v);
  }
}

}  // namespace

void finish_inference(Context& context, ConstTensorView sums, const InferenceFinish& task) {
  constexpr int kMaxRowBlocks = 65535;
  const dim3 grid(static_cast<unsigned>((task.out + kThreads * kVector - 1) / (kThreads * kVector)),
                  static_cast<unsigned>(std::min(task.rows, kMaxRowBlocks)));
  const auto start = [&]<class T>(Type<T>) {
    launch(context, "finishing an inference product", finish_kernel<T>, grid, kThreads, 0, elements<T>(sums),
           task);
  };
  if (sums.dtype == DType::i32) return start(Type<std::int32_t>{});
  with_device_type(sums.dtype, start);
}

}  // namespace podium::ops::cuda
