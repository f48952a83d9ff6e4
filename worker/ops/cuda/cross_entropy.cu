// loss = log(sum(exp(x))) - x[label],  dx = scale * (softmax(x) - onehot(label)),  x [rows, classes]. A block
// takes one row: once for its highest logit and its sum, and, where the gradient is wanted, once more to
// write it over the logits.
#include "worker/ops/cross_entropy.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/logit_row.cuh"
#include "worker/ops/cuda/loss_totals.cuh"
#include "worker/ops/cuda/step_value.cuh"

namespace podium::ops::cuda {
namespace {

template <class T>
__device__ __forceinline__ RowResult result_of(const T* x, std::int64_t classes, const RowStatistics& row,
                                               std::int32_t label, float weight) {
  if (label >= classes) return {__int_as_float(0x7fc00000), 0};
  const float logit = to_f32(x[label]);
  return {weight * (logf(row.sum) + row.highest - logit), logit >= row.highest ? 1 : 0};
}

// `weights` may be null: all are 1.
template <class T, bool kGradient>
__global__ void __launch_bounds__(kRowThreads)
    cross_entropy_kernel(T* logits, const std::int32_t* labels, RowWidth width, const float* weights,
                         StepValue<float> scale, RowResult* results) {
  T* const x = logits + blockIdx.x * width.columns;
  const std::int32_t label = labels[blockIdx.x];
  RowStatistics row{0.0F, 1.0F};
  float weight = 1.0F;
  if (label >= 0) {  // the same for the whole block
    if (weights != nullptr && label < width.classes) weight = weights[label];
    row = row_statistics(x, width);
    if (threadIdx.x == 0) results[blockIdx.x] = result_of(x, width.classes, row, label, weight);
    __syncthreads();  // the label's logit was read before its gradient takes its place
  }
  if constexpr (kGradient) write_gradient(x, width, row, weight * current(scale), label, label >= 0);
}

template <class T, bool kGradient>
void run(Context& context, T* logits, const RowWidth& width, std::span<const std::int32_t> labels,
         const ConstTensorView& weights, const StepValue<float>& scale, CrossEntropySums* sums) {
  if (labels.empty()) return;
  auto* const results =
      static_cast<RowResult*>(cuda_state(context).scratch(labels.size() * sizeof(RowResult)));
  launch(context, "cross_entropy", cross_entropy_kernel<T, kGradient>, static_cast<unsigned>(labels.size()),
         kRowThreads, 0, logits, labels.data(), width, static_cast<const float*>(weights.address), scale,
         results);
  add_totals(context, "cross_entropy", StoredResults{results}, labels, sums);
}

}  // namespace

void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes, ConstTensorView weights) {
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    run<T, false>(context, const_cast<T*>(elements<T>(logits)), {classes, logits.shape[1]}, labels, weights,
                  0.0F, sums);
  });
}

void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes, ConstTensorView weights) {
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    run<T, true>(context, elements<T>(logits), {classes, logits.shape[1]}, labels, weights, scale, sums);
  });
  if (dbias.address != nullptr) add_column_sums(context, logits, {}, dbias);
}

}  // namespace podium::ops::cuda
