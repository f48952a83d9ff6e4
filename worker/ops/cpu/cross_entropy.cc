#include "worker/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

struct RowSums {
  float highest = 0.0F;
  float sum = 0.0F;  // of exp(x - highest)
};

template <class T>
PODIUM_SIMD_CLONES float highest_of(const T* x, std::int64_t count) {
  float highest = to_float(x[0]);
#pragma omp simd reduction(max : highest)
  for (std::int64_t j = 0; j < count; ++j) {
    const float value = to_float(x[j]);
    highest = value > highest ? value : highest;
  }
  return highest;
}

constexpr std::int64_t kChunk =
    4096;  // columns whose exponentials are summed in f32 before going into a double

// Writes exp(x - highest) to `e`.
template <class T>
PODIUM_SIMD_CLONES float exponentials(const T* x, std::int64_t count, float highest, float* e) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < count; ++j) {
    const float value = fast_exp(to_float(x[j]) - highest);
    e[j] = value;
    sum += value;
  }
  return sum;
}

// gradient = e * factor, also added to dbias.
template <class T>
PODIUM_SIMD_CLONES void scale_exponentials(const float* e, std::int64_t count, float factor, T* gradient,
                                           float* dbias) {
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    const float value = e[j] * factor;
    gradient[j] = from_float<T>(value);
    dbias[j] += value;
  }
}

// The sum of exp(x - highest), the terms of which go to `e`.
template <class T>
float sum_exponentials(const T* x, std::int64_t classes, float highest, float* e) {
  double sum = 0;
  for (std::int64_t j = 0; j < classes; j += kChunk) {
    sum += exponentials(x + j, std::min(kChunk, classes - j), highest, e + j);
  }
  return static_cast<float>(sum);
}

template <class T>
RowSums row_sums(const T* x, std::int64_t classes, float* e) {
  const float highest = highest_of(x, classes);
  return {highest, sum_exponentials(x, classes, highest, e)};
}

float weight_of(const ConstTensorView& weights, std::int32_t label) {
  return weights.address == nullptr ? 1.0F : weights.data<float>()[label];
}

void count_row(const RowSums& sums, float label_logit, CrossEntropySums& total, float weight = 1.0F) {
  total.loss += weight * (std::log(static_cast<double>(sums.sum)) + sums.highest - label_logit);
  total.rows += 1;
  total.correct += label_logit >= sums.highest;
}

CrossEntropySums add_up(const std::vector<CrossEntropySums>& parts) {
  CrossEntropySums total;
  for (const CrossEntropySums& part : parts) total += part;
  return total;
}

// Each thread's exponentials of a row, and column sums of its gradients, which go to dbias in thread order.
struct GradientScratch {
  GradientScratch(Context& context, std::int64_t classes_in)
      : threads(context.threads),
        classes(classes_in),
        values(context.scratch.allocate(DType::f32, Shape{2 * threads, classes}).data<float>()) {
    for (int thread = 0; thread < threads; ++thread) std::fill_n(bias(thread), classes, 0.0F);
  }
  float* exponentials(int thread) const { return values + 2 * thread * classes; }
  float* bias(int thread) const { return exponentials(thread) + classes; }

  void add_bias_to(const TensorView& dbias) const {
    if (dbias.address == nullptr) return;
    float* const to = dbias.data<float>();
    for (int thread = 0; thread < threads; ++thread) {
      for (std::int64_t j = 0; j < classes; ++j) to[j] += bias(thread)[j];
    }
  }

  int threads;
  std::int64_t classes;
  float* values;
};

}  // namespace

void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes, ConstTensorView weights) {
  const ArenaScope scope(context.scratch);
  float* const exps = context.scratch.allocate(DType::f32, Shape{context.threads, classes}).data<float>();
  std::vector<CrossEntropySums> parts(static_cast<std::size_t>(context.threads));
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, logits.shape[0], 1, [&](Range range, int thread) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int32_t label = labels[static_cast<std::size_t>(i)];
        if (label < 0) continue;
        const T* const x = logits.data<T>() + i * classes;
        count_row(row_sums(x, classes, exps + thread * classes), to_float(x[label]),
                  parts[static_cast<std::size_t>(thread)], weight_of(weights, label));
      }
    });
  });
  *sums += add_up(parts);
}

void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes, ConstTensorView weights) {
  const ArenaScope scope(context.scratch);
  const GradientScratch scratch(context, classes);
  std::vector<CrossEntropySums> parts(static_cast<std::size_t>(context.threads));
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, logits.shape[0], 1, [&](Range range, int thread) {
      float* const e = scratch.exponentials(thread);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int32_t label = labels[static_cast<std::size_t>(i)];
        T* const x = logits.data<T>() + i * classes;
        if (label < 0) {
          std::fill_n(x, classes, T{});
          continue;
        }
        const float label_logit = to_float(x[label]);
        const RowSums row = row_sums(x, classes, e);
        const float weight = weight_of(weights, label);
        count_row(row, label_logit, parts[static_cast<std::size_t>(thread)], weight);
        e[label] -= row.sum;
        scale_exponentials(e, classes, weight * scale.value / row.sum, x, scratch.bias(thread));
      }
    });
  });
  scratch.add_bias_to(dbias);
  *sums += add_up(parts);
}

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes) {
  float* const highest = maxima.data<float>();
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, logits.shape[0], 1, [&](Range range, int) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        highest[i] = highest_of(logits.data<T>() + i * classes, classes);
      }
    });
  });
}

void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes) {
  const ArenaScope scope(context.scratch);
  const float* const highest = maxima.data<float>();
  float* const exps = context.scratch.allocate(DType::f32, Shape{context.threads, classes}).data<float>();
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, logits.shape[0], 1, [&](Range range, int thread) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const T* const x = logits.data<T>() + i * classes;
        const std::int64_t label = labels[static_cast<std::size_t>(i)] - first_class;
        float* const row = sums.data<float>() + 2 * i;
        row[0] = sum_exponentials(x, classes, highest[i], exps + thread * classes);
        row[1] = label >= 0 && label < classes ? to_float(x[label]) : 0.0F;
      }
    });
  });
}

void class_totals(Context& /*context*/, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals) {
  const float* const row = sums.data<float>();
  CrossEntropySums total;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) count_row({maxima.data<float>()[i], row[2 * i]}, row[2 * i + 1], total);
  *totals += total;
}

void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes) {
  const ArenaScope scope(context.scratch);
  const GradientScratch scratch(context, classes);
  with_float_type(logits.dtype, [&]<class T>(Type<T>) {
    parallel_ranges(context.threads, logits.shape[0], 1, [&](Range range, int thread) {
      float* const e = scratch.exponentials(thread);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        T* const x = logits.data<T>() + i * classes;
        const std::int32_t label = labels[static_cast<std::size_t>(i)];
        if (label < 0) {
          std::fill_n(x, classes, T{});
          continue;
        }
        const float sum = sums.data<float>()[2 * i];
        sum_exponentials(x, classes, maxima.data<float>()[i], e);
        if (label >= first_class && label < first_class + classes) e[label - first_class] -= sum;
        scale_exponentials(e, classes, scale.value / sum, x, scratch.bias(thread));
      }
    });
  });
  scratch.add_bias_to(dbias);
}

}  // namespace podium::ops::cpu
