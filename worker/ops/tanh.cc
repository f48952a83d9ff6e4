#include "worker/ops/tanh.h"

#include "worker/ops/check.h"
#include "worker/ops/cpu/tanh.h"

namespace podium::ops {

void tanh_forward(Context& context, TensorView x) {
  check_cpu(context);
  cpu::tanh_forward(context, x);
}

void tanh_backward(Context& context, ConstTensorView y, TensorView dy) {
  check_cpu(context);
  check_tensor(dy, y.dtype, y.shape, "dy");
  cpu::tanh_backward(context, y, dy);
}

}  // namespace podium::ops
