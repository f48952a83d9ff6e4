// Cross-entropy where each rank holds its own range of classes; formulas in worker/ops/cross_entropy.h. A
// block takes one row.
#include "worker/ops/cross_entropy.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/logit_row.cuh"
#include "worker/ops/cuda/loss_totals.cuh"
#include "worker/ops/cuda/step_value.cuh"

namespace podium::ops::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(kRowThreads) maxima_kernel(const T* logits, RowWidth width, float* maxima) {
  const float highest = highest_logit(logits + blockIdx.x * width.columns, width);
  if (threadIdx.x == 0) maxima[blockIdx.x] = highest;
}

template <class T>
__global__ void __launch_bounds__(kRowThreads)
    sums_kernel(const T* logits, const std::int32_t* labels, std::int64_t first_class, RowWidth width,
                const float* maxima, float* sums) {
  const T* const x = logits + blockIdx.x * width.columns;
  const RowStatistics row = row_statistics(x, width);
  if (threadIdx.x > 0) return;
  const std::int64_t label = labels[blockIdx.x] - first_class;
  sums[2 * blockIdx.x] = row.sum * __expf(row.highest - maxima[blockIdx.x]);
  sums[2 * blockIdx.x + 1] = label >= 0 && label < width.classes ? to_f32(x[label]) : 0.0F;
}

template <class T>
__global__ void __launch_bounds__(kRowThreads)
    gradients_kernel(T* logits, const std::int32_t* labels, std::int64_t first_class, RowWidth width,
                     const float* maxima, const float* sums, StepValue<float> scale) {
  const std::int32_t label = labels[blockIdx.x];
  const RowStatistics row{maxima[blockIdx.x], sums[2 * blockIdx.x]};
  write_gradient(logits + blockIdx.x * width.columns, width, row, current(scale), label - first_class,
                 label >= 0);
}

struct ReducedResults {
  const float* maxima;
  const float* sums;
  __device__ RowResult operator()(std::int64_t row) const {
    const float logit = sums[2 * row + 1];
    return {logf(sums[2 * row]) + maxima[row] - logit, logit >= maxima[row] ? 1 : 0};
  }
};

}  // namespace

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes) {
  if (logits.size() == 0) return;
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    launch(context, "class_maxima", maxima_kernel<T>, static_cast<unsigned>(logits.shape[0]), kRowThreads, 0,
           elements<T>(logits), RowWidth{classes, logits.shape[1]}, elements<float>(maxima));
  });
}

void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes) {
  if (logits.size() == 0) return;
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    launch(context, "class_sums", sums_kernel<T>, static_cast<unsigned>(logits.shape[0]), kRowThreads, 0,
           elements<T>(logits), labels.data(), first_class, RowWidth{classes, logits.shape[1]},
           elements<float>(maxima), elements<float>(sums));
  });
}

void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals) {
  if (labels.empty()) return;
  add_totals(context, "class_totals", ReducedResults{elements<float>(maxima), elements<float>(sums)}, labels,
             totals);
}

void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes) {
  if (logits.size() == 0) return;
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    launch(context, "class_gradients", gradients_kernel<T>, static_cast<unsigned>(logits.shape[0]),
           kRowThreads, 0, elements<T>(logits), labels.data(), first_class,
           RowWidth{classes, logits.shape[1]}, elements<float>(maxima), elements<float>(sums), scale);
  });
  if (dbias.address != nullptr) add_column_sums(context, logits, {}, dbias);
}

}  // namespace podium::ops::cuda
