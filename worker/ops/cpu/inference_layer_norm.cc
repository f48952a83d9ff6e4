#include "worker/ops/inference_layer_norm.h"

#include "worker/ops/cpu/backend.h"
#include "worker/ops/cpu/quantise.h"

namespace podium::ops::cpu {

void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy) {
  const ArenaScope scope(context.scratch);
  cpu::layer_norm_forward(context, x, parameters, y,
                          context.scratch.allocate(DType::f32, Shape{x.shape[0], 2}));
  if (copy.wanted()) quantise(y.address, y.dtype, y.size(), copy, context.threads);
}

}  // namespace podium::ops::cpu
