#include "worker/ops/cross_entropy.h"

#include <algorithm>

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
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
  PODIUM_CHECK(backend(context).pads_columns && classes < logits.shape[1],
               "logits have a column for every class, and no other but on a device");
  return classes;
}

void check_classes(const Context& context, const ConstTensorView& logits,
                   std::span<const std::int32_t> labels) {
  if (!backend(context).host_reads_integers) return;
  PODIUM_CHECK(std::ranges::all_of(labels, [&](std::int32_t label) { return label < logits.shape[1]; }),
               "label outside the classes");
}

void check_bias(const TensorView& dbias, std::int64_t classes) {
  if (dbias.address != nullptr) check_tensor(dbias, DType::f32, Shape{classes}, "dbias");
}

void check_weights(const ConstTensorView& weights, std::int64_t classes) {
  if (weights.address != nullptr) check_tensor(weights, DType::f32, Shape{classes}, "weights");
}

void check_reduced(const ConstTensorView& logits, const ConstTensorView& maxima,
                   const ConstTensorView& sums) {
  check_tensor(maxima, DType::f32, Shape{logits.shape[0]}, "maxima");
  check_tensor(sums, DType::f32, Shape{logits.shape[0], 2}, "sums");
}

}  // namespace

void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                   CrossEntropySums* sums, std::int64_t classes, ConstTensorView weights) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_classes(context, logits, labels);
  check_weights(weights, classes);
  const ProfileScope scope(context, "cross_entropy", {.bytes = bytes_of(logits)});
  backend(context).cross_entropy(context, logits, labels, sums, classes, weights);
}

void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                            std::int64_t classes, ConstTensorView weights) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_classes(context, logits, labels);
  check_bias(dbias, classes);
  check_weights(weights, classes);
  const ProfileScope scope(context, "cross_entropy_backward", {.bytes = 2 * bytes_of(logits)});
  backend(context).cross_entropy_backward(context, logits, labels, scale, dbias, sums, classes, weights);
}

void class_maxima(Context& context, ConstTensorView logits, TensorView maxima, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  PODIUM_CHECK(logits.shape.rank() == 2 && logits.shape[1] > 0, "logits are [rows, classes]");
  check_tensor(maxima, DType::f32, Shape{logits.shape[0]}, "maxima");
  const ProfileScope scope(context, "class_maxima", {.bytes = bytes_of(logits)});
  backend(context).class_maxima(context, logits, maxima, classes);
}

void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                std::int64_t first_class, ConstTensorView maxima, TensorView sums, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_reduced(logits, maxima, sums);
  const ProfileScope scope(context, "class_sums", {.bytes = bytes_of(logits)});
  backend(context).class_sums(context, logits, labels, first_class, maxima, sums, classes);
}

void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                  ConstTensorView sums, CrossEntropySums* totals) {
  PODIUM_CHECK(static_cast<std::int64_t>(labels.size()) == maxima.size() && sums.size() == 2 * maxima.size(),
               "one maximum and two sums a label");
  backend(context).class_totals(context, labels, maxima, sums, totals);
}

void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                     std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                     const StepValue<float>& scale, TensorView dbias, std::int64_t classes) {
  classes = classes_of(context, logits, classes);
  check_labels(logits, labels);
  check_reduced(logits, maxima, sums);
  check_bias(dbias, classes);
  const ProfileScope scope(context, "class_gradients", {.bytes = 2 * bytes_of(logits)});
  backend(context).class_gradients(context, logits, labels, first_class, maxima, sums, scale, dbias, classes);
}

}  // namespace podium::ops
