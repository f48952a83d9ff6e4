#include "worker/ops/gelu.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/gelu.h"
#include "worker/ops/device_ops.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) {
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "gelu_forward", {.bytes = bytes_of(x, x, y)});
  if (context.device_ops != nullptr) return context.device_ops->gelu_forward(context, x, y, kind);
  cpu::gelu_forward(context, x, y, kind);
}

void gelu_backward(Context& context, ConstTensorView slope, TensorView dy) {
  check_tensor(dy, slope.dtype, slope.shape, "dy");
  const ProfileScope scope(context, "gelu_backward", {.bytes = bytes_of(slope, dy, dy)});
  if (context.device_ops != nullptr) return context.device_ops->gelu_backward(context, slope, dy);
  cpu::gelu_backward(context, slope, dy);
}

}  // namespace podium::ops
