#include "worker/ops/swiglu.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

// `half` is y or dy.
void check_halves(const ConstTensorView& whole, const ConstTensorView& half, const char* name) {
  PODIUM_CHECK(whole.shape.rank() == 2 && whole.shape[1] % 2 == 0, "SwiGLU works on [rows, 2n]");
  check_tensor(half, whole.dtype, Shape{whole.shape[0], whole.shape[1] / 2}, name);
}

}  // namespace

void swiglu_forward(Context& context, ConstTensorView x, TensorView y) {
  check_halves(x, y, "y");
  const ProfileScope scope(context, "swiglu_forward", {.bytes = bytes_of(x, y)});
  backend(context).swiglu_forward(context, x, y);
}

void swiglu_backward(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dx) {
  check_halves(x, dy, "dy");
  check_tensor(dx, x.dtype, x.shape, "dx");
  const ProfileScope scope(context, "swiglu_backward", {.bytes = bytes_of(x, dy, dx)});
  backend(context).swiglu_backward(context, x, dy, dx);
}

}  // namespace podium::ops
