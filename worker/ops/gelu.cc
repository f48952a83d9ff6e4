#include "worker/ops/gelu.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) {
  check_tensor(y, x.dtype, x.shape, "y");
  const ProfileScope scope(context, "gelu_forward",
                           {.bytes = backend(context).keeps_gelu_slope ? bytes_of(x, x, y) : bytes_of(x, y)});
  backend(context).gelu_forward(context, x, y, kind);
}

void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) {
  check_tensor(dy, saved.values.dtype, saved.values.shape, "dy");
  const ProfileScope scope(context, "gelu_backward", {.bytes = bytes_of(saved.values, dy, dy)});
  backend(context).gelu_backward(context, saved, dy);
}

}  // namespace podium::ops
