#include "worker/ops/cuda/cuda_ops.h"

#include "worker/ops/cuda/dropout.h"
#include "worker/ops/cuda/gelu.h"
#include "worker/ops/cuda/layer_norm.h"

namespace podium::ops::cuda {
namespace {

class CudaOps final : public DeviceOps {
 public:
  void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) override {
    cuda::dropout(context, x, dropout, y);
  }
  void add_dropout(Context& context, TensorView branch, ConstTensorView residual,
                   const Dropout& dropout) override {
    cuda::add_dropout(context, branch, residual, dropout);
  }
  void gelu_forward(Context& context, TensorView x, TensorView y, GeluKind kind) override {
    cuda::gelu_forward(context, x, y, kind);
  }
  void gelu_backward(Context& context, ConstTensorView slope, TensorView dy) override {
    cuda::gelu_backward(context, slope, dy);
  }
  void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, TensorView statistics) override {
    cuda::layer_norm_forward(context, x, parameters, y, statistics);
  }
  void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x,
                           ConstTensorView statistics, const LayerNormParameters& parameters, TensorView dx,
                           const LayerNormGradients& gradients, ConstTensorView dresidual) override {
    cuda::layer_norm_backward(context, dy, x, statistics, parameters, dx, gradients, dresidual);
  }
  void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                              const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                              TensorView statistics) override {
    cuda::add_layer_norm_forward(context, branch, residual, dropout, parameters, y, statistics);
  }
  void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                               ConstTensorView statistics, const Dropout& dropout,
                               const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                               const LayerNormGradients& gradients, ConstTensorView dresidual) override {
    cuda::add_layer_norm_backward(context, dy, sum, statistics, dropout, parameters, dsum, dbranch, gradients,
                                  dresidual);
  }
};

}  // namespace

std::unique_ptr<DeviceOps> make_cuda_ops() { return std::make_unique<CudaOps>(); }

}  // namespace podium::ops::cuda
