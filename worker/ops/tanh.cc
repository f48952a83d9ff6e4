#include "worker/ops/tanh.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void tanh_forward(Context& context, TensorView x) {
  const ProfileScope scope(context, "tanh_forward", {.bytes = bytes_of(x, x)});
  backend(context).tanh_forward(context, x);
}

void tanh_backward(Context& context, ConstTensorView y, TensorView dy) {
  check_tensor(dy, y.dtype, y.shape, "dy");
  const ProfileScope scope(context, "tanh_backward", {.bytes = bytes_of(y, dy, dy)});
  backend(context).tanh_backward(context, y, dy);
}

}  // namespace podium::ops
