// loss = log(sum(exp(x))) - x[label],  dx = scale * (softmax(x) - onehot(label)),  x [rows, classes]. A block
// takes one row: once for its highest logit and its sum, and, where the gradient is wanted, once more to
// write it over the logits.
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/cross_entropy.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/logit_row.cuh"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

struct RowResult {
  float loss;
  std::int32_t correct;
};

template <class T>
__device__ __forceinline__ RowResult result_of(const T* x, std::int64_t classes, const RowStatistics& row,
                                               std::int32_t label) {
  if (label >= classes) return {__int_as_float(0x7fc00000), 0};
  const float logit = to_f32(x[label]);
  return {logf(row.sum) + row.highest - logit, logit >= row.highest ? 1 : 0};
}

template <class T, bool kGradient>
__global__ void __launch_bounds__(kRowThreads)
    cross_entropy_kernel(T* logits, const std::int32_t* labels, std::int64_t classes, float scale,
                         RowResult* results) {
  T* const x = logits + blockIdx.x * classes;
  const std::int32_t label = labels[blockIdx.x];
  RowStatistics row{0.0F, 1.0F};
  if (label >= 0) {  // the same for the whole block
    row = row_statistics(x, classes);
    if (threadIdx.x == 0) results[blockIdx.x] = result_of(x, classes, row, label);
    __syncthreads();  // the label's logit was read before its gradient takes its place
  }
  if constexpr (kGradient) write_gradient(x, classes, row, scale, label, label >= 0);
}

// One block: thread t adds rows t, t + kRowThreads, ...; then the threads' sums are added in order.
__global__ void __launch_bounds__(kRowThreads)
    totals_kernel(const RowResult* results, const std::int32_t* labels, std::int64_t rows,
                  CrossEntropySums* out) {
  __shared__ double losses[kRowThreads];
  __shared__ std::int64_t counts[kRowThreads], corrects[kRowThreads];
  double loss = 0;
  std::int64_t count = 0, correct = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += kRowThreads) {
    if (labels[row] < 0) continue;
    loss += static_cast<double>(results[row].loss);
    count += 1;
    correct += results[row].correct;
  }
  losses[threadIdx.x] = loss;
  counts[threadIdx.x] = count;
  corrects[threadIdx.x] = correct;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned t = 1; t < kRowThreads; ++t) {
    loss += losses[t];
    count += counts[t];
    correct += corrects[t];
  }
  out->loss = loss;
  out->rows = count;
  out->correct = correct;
}

template <class T, bool kGradient>
CrossEntropySums run(Context& context, T* logits, std::int64_t classes, std::span<const std::int32_t> labels,
                     float scale) {
  CrossEntropySums sums;
  if (labels.empty()) return sums;
  CudaState& state = cuda_state(context);
  auto* const totals = static_cast<CrossEntropySums*>(
      state.scratch(sizeof(CrossEntropySums) + labels.size() * sizeof(RowResult)));
  auto* const results = reinterpret_cast<RowResult*>(totals + 1);
  launch(context, "cross_entropy", cross_entropy_kernel<T, kGradient>, static_cast<unsigned>(labels.size()),
         kRowThreads, 0, logits, labels.data(), classes, scale, results);
  launch(context, "cross_entropy", totals_kernel, 1, kRowThreads, 0, results, labels.data(),
         static_cast<std::int64_t>(labels.size()), totals);
  check_cuda(cudaMemcpyAsync(&sums, totals, sizeof(sums), cudaMemcpyDeviceToHost, state.stream()),
             "reading the loss");
  check_cuda(cudaStreamSynchronize(state.stream()), "waiting for the loss");
  return sums;
}

}  // namespace

CrossEntropySums cross_entropy(Context& context, ConstTensorView logits,
                               std::span<const std::int32_t> labels) {
  CrossEntropySums sums;
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    sums = run<T, false>(context, const_cast<T*>(elements<T>(logits)), logits.shape[1], labels, 0.0F);
  });
  return sums;
}

CrossEntropySums cross_entropy_backward(Context& context, TensorView logits,
                                        std::span<const std::int32_t> labels, float scale, TensorView dbias) {
  CrossEntropySums sums;
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    sums = run<T, true>(context, elements<T>(logits), logits.shape[1], labels, scale);
  });
  if (dbias.address != nullptr) add_column_sums(context, logits, {}, elements<float>(dbias));
  return sums;
}

}  // namespace podium::ops::cuda
