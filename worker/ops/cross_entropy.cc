#include "worker/ops/cross_entropy.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/cross_entropy.h"

namespace podium::ops {
namespace {

void check_labels(const ConstTensorView& logits, std::span<const std::int32_t> labels) {
  PODIUM_CHECK(logits.shape.rank() == 2 && static_cast<std::int64_t>(labels.size()) == logits.shape[0],
               "one label a row of logits");
  for (const std::int32_t label : labels) PODIUM_CHECK(label < logits.shape[1], "label outside the classes");
}

}  // namespace

CrossEntropySums cross_entropy(Context& context, ConstTensorView logits,
                               std::span<const std::int32_t> labels) {
  check_cpu(context);
  check_labels(logits, labels);
  return cpu::cross_entropy(context, logits, labels);
}

CrossEntropySums cross_entropy_backward(Context& context, TensorView logits,
                                        std::span<const std::int32_t> labels, float scale, TensorView dbias) {
  check_cpu(context);
  check_labels(logits, labels);
  check_tensor(dbias, DType::f32, Shape{logits.shape[1]}, "dbias");
  return cpu::cross_entropy_backward(context, logits, labels, scale, dbias);
}

}  // namespace podium::ops
