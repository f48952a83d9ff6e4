// Over the valid rows r of a sequence, in one column: loss = log(sum(exp(x[r]))) - x[label] and dx[r] = scale
// * (softmax(x)[r] - onehot(label)). A block takes one sequence: once for the highest logit, once for the
// sum, and, where the gradient is wanted, once more to write it over the logits.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/loss_totals.cuh"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/sequence_rows.cuh"
#include "worker/ops/cuda/step_value.cuh"
#include "worker/ops/position_cross_entropy.h"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 8;
constexpr unsigned kThreads = 32 * kWarps;

template <class T, bool kGradient>
__global__ void __launch_bounds__(kThreads)
    position_cross_entropy_kernel(T* column, std::int64_t stride, const std::int32_t* labels, Places places,
                                  StepValue<float> scale, RowResult* results) {
  const RowsOfOne rows = rows_of(places, blockIdx.x);
  const std::int32_t label = labels[blockIdx.x];
  const bool counts = label >= 0;  // the same for the whole block
  float highest = Max::kIdentity, sum = 0.0F;
  if (counts) {
    for (std::int64_t row = rows.begin + threadIdx.x; row < rows.valid_end; row += kThreads)
      highest = Max{}(highest, to_f32(column[row * stride]));
    highest = reduce_block<kWarps>(highest, Max{});
    for (std::int64_t row = rows.begin + threadIdx.x; row < rows.valid_end; row += kThreads)
      sum += __expf(to_f32(column[row * stride]) - highest);
    sum = reduce_block<kWarps>(sum, Sum{});
    if (threadIdx.x == 0) {
      const bool inside = rows.begin + label < rows.valid_end;
      const float logit = inside ? to_f32(column[(rows.begin + label) * stride]) : __int_as_float(0x7fc00000);
      results[blockIdx.x] = {logf(sum) + highest - logit, logit >= highest ? 1 : 0};
    }
    __syncthreads();  // the label's logit was read before its gradient takes its place
  }
  if constexpr (kGradient) {
    const float factor = current(scale);
    for (std::int64_t row = rows.begin + threadIdx.x; row < rows.end; row += kThreads) {
      float gradient = 0.0F;
      if (counts && row < rows.valid_end)
        gradient = factor * (__expf(to_f32(column[row * stride]) - highest) / sum -
                             (row == rows.begin + label ? 1.0F : 0.0F));
      column[row * stride] = from_f32<T>(gradient);
    }
  }
}

template <class T, bool kGradient>
void run(Context& context, T* logits, const Shape& shape, std::int64_t column, const SequenceRows& rows,
         std::span<const std::int32_t> labels, const StepValue<float>& scale, CrossEntropySums* sums) {
  if (labels.empty()) return;
  auto* const results =
      static_cast<RowResult*>(cuda_state(context).scratch(labels.size() * sizeof(RowResult)));
  launch(context, "position_cross_entropy", position_cross_entropy_kernel<T, kGradient>,
         static_cast<unsigned>(labels.size()), kThreads, 0, logits + column, shape[1], labels.data(),
         places_of(rows, shape[0]), scale, results);
  add_totals(context, "position_cross_entropy", StoredResults{results}, labels, sums);
}

}  // namespace

void position_cross_entropy(Context& context, ConstTensorView logits, std::int64_t column,
                            const SequenceRows& rows, std::span<const std::int32_t> labels,
                            CrossEntropySums* sums) {
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    run<T, false>(context, const_cast<T*>(elements<T>(logits)), logits.shape, column, rows, labels, 0.0F,
                  sums);
  });
}

void position_cross_entropy_backward(Context& context, TensorView logits, std::int64_t column,
                                     const SequenceRows& rows, std::span<const std::int32_t> labels,
                                     const StepValue<float>& scale, CrossEntropySums* sums) {
  with_device_type(logits.dtype, [&]<class T>(Type<T>) {
    run<T, true>(context, elements<T>(logits), logits.shape, column, rows, labels, scale, sums);
  });
}

}  // namespace podium::ops::cuda
