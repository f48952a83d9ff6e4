#include "worker/ops/inference_layer_norm.h"

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {

void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, const QuantisedCopy& copy) {
  check_layer_norm(x, parameters);
  check_tensor(y, x.dtype, x.shape, "y");
  if (copy.wanted()) check_quantised(copy.values, x.shape, "the quantised copy");
  const ProfileScope scope(context, "inference_layer_norm", {.bytes = bytes_of(x, y, copy.values)});
  backend(context).inference_layer_norm(context, x, parameters, y, copy);
}

}  // namespace podium::ops
