#include "worker/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "worker/ops/check.h"
#include "worker/ops/cpu/cross_entropy.h"
#include "worker/ops/device_ops.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_labels(const ConstTensorView& logits, std::span<const std::int32_t> labels) {
  PODIUM_CHECK(logits.shape.rank() == 2 && static_cast<std::int64_t>(labels.size()) == logits.shape[0],
               "one label a row of logits");
}

// What `classes` stands for.
std::int64_t classes_of(const Context& context, const ConstTensorView& logits, std::int64_t classes) {
  PODIUM_CHECK(logits.shape.rank() == 2, "logits are [rows, classes]");
  if (classes == 0 || classes == logits.shape[1]) return logits.shape[1];
  PODIUM_CHECK(context.device_ops != nullptr && classes < logits.shape[1],
               "logits have a column for every class, and no other but on a device");
  return classes;
}

void check_classes(const ConstTensorView& logits, std::span<const std::int32_t> labels) {
  PODIUM_CHECK(std::ranges::all_of(labels, [&](std::int32_t label) { return label < logits.shape[1]; }),
               "label outside the classes");
}

void check_bias(const TensorView& dbias, std::int64_t classes) {
  if (dbias.address != nullptr) check_tensor(dbias, DType::f32, Shape{classes}, "dbias");
}

void check_reduced(const ConstTensorView& logits, const ConstTensorView& maxima,
                   const ConstTensorView& sums) {
  check_tensor(maxima, DType::f32, Shape{logits.shape[0]}, "maxima");
  check_tensor(sums, DType::f32, Shape{logits.shape[0], 2}, "sums");
}

}  // namespace

void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  if (context.device_ops == nullptr) check_classes(logits, labels);
  const ProfileScope scope(context, "cross_entropy", {.bytes = bytes_of(logits)});
  if (context.device_ops != nullptr)
    return context.device_ops->cross_entropy(context, logits, labels, sums, classes);
  *sums += cpu::cross_entropy(context, logits, labels);
}

void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  if (context.device_ops == nullptr) check_classes(logits, labels);
  check_bias(dbias, classes);
  const ProfileScope scope(context, "cross_entropy_backward", {.bytes = 2 * bytes_of(logits)});
  if (context.device_ops != nullptr)
    return context.device_ops->cross_entropy_backward(context, logits, labels, scale, dbias, sums, classes);
  *sums += cpu::cross_entropy_backward(context, logits, labels, scale.value, dbias);
}

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  PODIUM_CHECK(logits.shape.rank() == 2 && logits.shape[1] > 0, "logits are [rows, classes]");
  check_tensor(maxima, DType::f32, Shape{logits.shape[0]}, "maxima");
  const ProfileScope scope(context, "class_maxima", {.bytes = bytes_of(logits)});
  if (context.device_ops != nullptr)
    return context.device_ops->class_maxima(context, logits, maxima, classes);
  cpu::class_maxima(context, logits, maxima);
}

void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_reduced(logits, maxima, sums);
  const ProfileScope scope(context, "class_sums", {.bytes = bytes_of(logits)});
  if (context.device_ops != nullptr)
    return context.device_ops->class_sums(context, logits, labels, first_class, maxima, sums, classes);
  cpu::class_sums(context, logits, labels, first_class, maxima, sums);
}

void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals) {
  PODIUM_CHECK(static_cast<std::int64_t>(labels.size()) == maxima.size() && sums.size() == 2 * maxima.size(),
               "one maximum and two sums a label");
  if (context.device_ops != nullptr)
    return context.device_ops->class_totals(context, labels, maxima, sums, totals);
  const float* const highest = maxima.data<float>();
  const float* const row = sums.data<float>();
  CrossEntropySums total;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    const float label_logit = row[2 * i + 1];
    total.loss += std::log(static_cast<double>(row[2 * i])) + highest[i] - label_logit;
    total.rows += 1;
    total.correct += label_logit >= highest[i];
  }
  *totals += total;
}

void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_reduced(logits, maxima, sums);
  check_bias(dbias, classes);
  const ProfileScope scope(context, "class_gradients", {.bytes = 2 * bytes_of(logits)});
  if (context.device_ops != nullptr)
    return context.device_ops->class_gradients(context, logits, labels, first_class, maxima, sums, scale,
                                               dbias, classes);
  cpu::class_gradients(context, logits, labels, first_class, maxima, sums, scale.value, dbias);
}

}  // namespace podium::ops
