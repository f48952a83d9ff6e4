#include "worker/ops/fake_quantise.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

void check_ranges(const ConstTensorView& x, const ConstTensorView& ranges) {
  PODIUM_CHECK(x.shape.rank() == 2, "what is quantised has rows and columns");
  check_tensor(ranges, DType::f32, Shape{ranges.shape == Shape{1} ? 1 : x.shape[0]}, "ranges");
}

}  // namespace

void widen_ranges(Context& context, ConstTensorView x, TensorView ranges) {
  check_ranges(x, ranges);
  const ProfileScope scope(context, "widen_ranges", {.bytes = bytes_of(x)});
  backend(context).widen_ranges(context, x, ranges);
}

void fake_quantise(Context& context, ConstTensorView x, DType type, ConstTensorView ranges, TensorView y) {
  PODIUM_CHECK(is_quantised(type), "values are quantised to i8 or e4m3");
  check_ranges(x, ranges);
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "fake_quantise", {.bytes = bytes_of(x, y)});
  backend(context).fake_quantise(context, x, type, ranges, y);
}

void fake_quantise_backward(Context& context, ConstTensorView x, DType type, ConstTensorView range,
                            ConstTensorView dy, bool accumulate, TensorView dx) {
  PODIUM_CHECK(is_quantised(type), "values are quantised to i8 or e4m3");
  check_tensor(range, DType::f32, Shape{1}, "range");
  check_tensor(dy, x.dtype, x.shape, "dy");
  check_tensor(dx, x.dtype, x.shape, "dx");
  const ProfileScope scope(context, "fake_quantise_backward", {.bytes = bytes_of(x, dy, dx)});
  backend(context).fake_quantise_backward(context, x, type, range, dy, accumulate, dx);
}

}  // namespace podium::ops
