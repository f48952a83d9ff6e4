#include "worker/ops/gelu.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/gelu.h"
#include "worker/ops/device_ops.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) {
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "gelu_forward",
                           {.bytes = context.device_ops == nullptr ? bytes_of(x, x, y) : bytes_of(x, y)});
  if (context.device_ops != nullptr) return context.device_ops->gelu_forward(context, x, y, kind);
  cpu::gelu_forward(context, x, y, kind);
}

void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) {
  check_tensor(dy, saved.values.dtype, saved.values.shape, "dy");
  const ProfileScope scope(context, "gelu_backward", {.bytes = bytes_of(saved.values, dy, dy)});
  if (context.device_ops != nullptr) return context.device_ops->gelu_backward(context, saved, dy);
  cpu::gelu_backward(context, saved.values, dy);
}

}  // namespace podium::ops
