// The seam between the ops and a device back end in a shared object of its own: what the ops' headers of this
// folder promise, over tensors, labels, ids and row numbers in the device's memory. The ops have checked the
// arguments. Work is put on the context's stream; results that are returned have been waited for.
#pragma once

#include "worker/ops/dropout.h"
#include "worker/ops/gelu.h"
#include "worker/ops/layer_norm.h"

namespace podium::ops {

class DeviceOps {
 public:
  virtual ~DeviceOps() = default;

  virtual void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) = 0;
  virtual void add_dropout(Context& context, TensorView branch, ConstTensorView residual,
                           const Dropout& dropout) = 0;
  virtual void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) = 0;
  virtual void gelu_backward(Context& context, ConstTensorView slope, TensorView dy) = 0;
  virtual void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                                  TensorView y, TensorView statistics) = 0;
  virtual void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x,
                                   ConstTensorView statistics, const LayerNormParameters& parameters,
                                   TensorView dx, const LayerNormGradients& gradients,
                                   ConstTensorView dresidual) = 0;
  virtual void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                                      const Dropout& dropout, const LayerNormParameters& parameters,
                                      TensorView y, TensorView statistics) = 0;
  virtual void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                                       ConstTensorView statistics, const Dropout& dropout,
                                       const LayerNormParameters& parameters, TensorView dsum,
                                       TensorView dbranch, const LayerNormGradients& gradients,
                                       ConstTensorView dresidual) = 0;
};

}  // namespace podium::ops
