#include "worker/ops/tanh.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/tanh.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void tanh_forward(Context& context, TensorView x) {
  check_cpu(context);
  const ProfileScope scope(context, "tanh_forward", {.bytes = bytes_of(x, x)});
  cpu::tanh_forward(context, x);
}

void tanh_backward(Context& context, ConstTensorView y, TensorView dy) {
  check_cpu(context);
  check_tensor(dy, y.dtype, y.shape, "dy");
  const ProfileScope scope(context, "tanh_backward", {.bytes = bytes_of(y, dy, dy)});
  cpu::tanh_backward(context, y, dy);
}

}  // namespace podium::ops
