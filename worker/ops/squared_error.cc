#include "worker/ops/squared_error.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_values(const ConstTensorView& x, std::span<const float> values) {
  PODIUM_CHECK(x.shape == (Shape{std::ssize(values), 1}), "one prediction a row, and one value for each");
}

}  // namespace

void squared_error(Context& context, ConstTensorView x, std::span<const float> values,
                   CrossEntropySums* sums) {
  check_values(x, values);
  const ProfileScope scope(context, "squared_error", {.bytes = bytes_of(x)});
  backend(context).squared_error(context, x, values, sums);
}

void squared_error_backward(Context& context, TensorView x, std::span<const float> values,
                            const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums) {
  check_values(x, values);
  if (dbias.address != nullptr) check_tensor(dbias, DType::f32, Shape{1}, "dbias");
  const ProfileScope scope(context, "squared_error_backward", {.bytes = bytes_of(x, x)});
  backend(context).squared_error_backward(context, x, values, scale, dbias, sums);
}

}  // namespace podium::ops
