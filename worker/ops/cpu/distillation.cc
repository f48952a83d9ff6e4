#include "worker/ops/distillation.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {
namespace {

// The scores of one sequence.
template <class T>
struct Scores {
  const T* x;
  T* dx;
  std::int64_t stride;  // of both
  const float* teacher;
  std::int64_t count;
};

// log(sum(exp(score(i))))
template <class Score>
double log_sum_exp(std::int64_t count, const Score& score) {
  double highest = score(0), sum = 0;
  for (std::int64_t i = 1; i < count; ++i) highest = std::max(highest, score(i));
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(score(i) - highest);
  return highest + std::log(sum);
}

// Adds to dx; returns the loss.
template <class T>
double distil(const Scores<T>& scores, double temperature, double scale) {
  const auto teacher = [&](std::int64_t i) { return scores.teacher[i] / temperature; };
  const auto student = [&](std::int64_t i) { return to_float(scores.x[i * scores.stride]) / temperature; };
  const double of_teacher = log_sum_exp(scores.count, teacher);
  const double of_student = log_sum_exp(scores.count, student);
  double divergence = 0;
  for (std::int64_t i = 0; i < scores.count; ++i) {
    const double log_p = teacher(i) - of_teacher, log_q = student(i) - of_student;
    const double p = std::exp(log_p);
    divergence += p * (log_p - log_q);
    T& d = scores.dx[i * scores.stride];
    d = from_float<T>(static_cast<float>(to_float(d) + scale * temperature * (std::exp(log_q) - p)));
  }
  return temperature * temperature * divergence;
}

}  // namespace

void distillation(Context& context, ConstTensorView x, std::int64_t column, const SequenceRows& rows,
                  std::span<const float> teacher, float temperature, const StepValue<float>& scale,
                  TensorView dx, CrossEntropySums* sums) {
  std::vector<double> losses(static_cast<std::size_t>(rows.sequences));
  const std::int64_t stride = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, rows.sequences, 1, [&](Range range, int) {
      for (std::int64_t s = range.begin; s < range.end; ++s) {
        const RowsOfOne own = rows_of(rows, s, x.shape[0]);
        const std::int64_t first = own.begin * stride + column;
        losses[static_cast<std::size_t>(s)] =
            distil<T>({x.data<T>() + first, dx.data<T>() + first, stride, teacher.data() + own.begin,
                       own.valid_end - own.begin},
                      temperature, scale.value);
      }
    });
  });
  for (const double loss : losses) *sums += {loss, 1, 0};
}

}  // namespace podium::ops::cpu
