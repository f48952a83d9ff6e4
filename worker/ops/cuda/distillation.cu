// Over the valid rows r of a sequence, in one column, with p = softmax(teacher[r] / T) and q = softmax(x[r] /
// T): loss = T^2 * sum(p * (log(p) - log(q))) and dx[r] += scale * T * (q - p). A block takes one sequence:
// once for the highest scores, once for the sums, and once more for loss and gradient.
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/loss_totals.cuh"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/sequence_rows.cuh"
#include "worker/ops/cuda/step_value.cuh"
#include "worker/ops/distillation.h"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 8;
constexpr unsigned kThreads = 32 * kWarps;

// log(sum(exp(score(row)))) over a block.
template <class Score>
__device__ __forceinline__ float log_sum_exp(const RowsOfOne& rows, const Score& score) {
  float highest = Max::kIdentity, sum = 0.0F;
  for (std::int64_t row = rows.begin + threadIdx.x; row < rows.valid_end; row += kThreads)
    highest = Max{}(highest, score(row));
  highest = reduce_block<kWarps>(highest, Max{});
  for (std::int64_t row = rows.begin + threadIdx.x; row < rows.valid_end; row += kThreads)
    sum += expf(score(row) - highest);
  return highest + logf(reduce_block<kWarps>(sum, Sum{}));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    distillation_kernel(const T* x, T* dx, std::int64_t stride, const float* teacher, Places places,
                        float temperature, StepValue<float> scale, RowResult* results) {
  const RowsOfOne rows = rows_of(places, blockIdx.x);
  const float inverse = 1.0F / temperature;
  const auto of_teacher = [&](std::int64_t row) { return teacher[row] * inverse; };
  const auto of_student = [&](std::int64_t row) { return to_f32(x[row * stride]) * inverse; };
  const float teacher_total = log_sum_exp(rows, of_teacher), student_total = log_sum_exp(rows, of_student);
  const float factor = current(scale) * temperature;
  float divergence = 0.0F;
  for (std::int64_t row = rows.begin + threadIdx.x; row < rows.valid_end; row += kThreads) {
    const float log_p = of_teacher(row) - teacher_total, log_q = of_student(row) - student_total;
    const float p = expf(log_p);
    divergence += p * (log_p - log_q);
    T& d = dx[row * stride];
    d = from_f32<T>(to_f32(d) + factor * (expf(log_q) - p));
  }
  divergence = reduce_block<kWarps>(divergence, Sum{});
  if (threadIdx.x == 0) results[blockIdx.x] = {temperature * temperature * divergence, 0};
}

}  // namespace

void distillation(Context& context, ConstTensorView x, std::int64_t column, const SequenceRows& rows,
                  std::span<const float> teacher, float temperature, const StepValue<float>& scale,
                  TensorView dx, CrossEntropySums* sums) {
  if (rows.sequences == 0) return;
  const auto count = static_cast<std::size_t>(rows.sequences);
  auto* const results = static_cast<RowResult*>(cuda_state(context).scratch(count * sizeof(RowResult)));
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "distillation", distillation_kernel<T>, static_cast<unsigned>(count), kThreads, 0,
           elements<T>(x) + column, elements<T>(dx) + column, x.shape[1], teacher.data(),
           places_of(rows, x.shape[0]), temperature, scale, results);
  });
  add_totals(context, "distillation", StoredResults{results}, rows.sequences, sums);
}

}  // namespace podium::ops::cuda
