#include "worker/nn/norm.h"

namespace podium {

Norm::Norm(ParameterStore& store, const std::string& name, const ModelSpec& spec, bool of_own_rows)
    : store_(store), kind_(family_of(spec).norm), epsilon_(static_cast<float>(family_of(spec).norm_epsilon)) {
  const auto declare = [&](const char* part, Initializer initializer) {
    Parameter parameter{.name = name + part,
                        .shape = Shape{spec.hidden},
                        .decay = false,
                        .initializer = initializer,
                        .partial_over_tensor = of_own_rows};
    return store.add(std::move(parameter));
  };
  gamma_ = declare(".weight", Initializer::ones);
  if (!is_rms()) beta_ = declare(".bias", Initializer::zeros);
}

TensorView Norm::allocate_statistics(Arena& arena, std::int64_t rows) const {
  return arena.allocate(DType::f32, is_rms() ? Shape{rows} : Shape{rows, 2});
}

void Norm::forward(Context& context, ConstTensorView x, TensorView y, TensorView statistics) const {
  if (is_rms()) return ops::rms_norm_forward(context, x, rms_norm(), y, statistics);
  ops::layer_norm_forward(context, x, layer_norm(), y, statistics);
}

void Norm::backward(Context& context, ConstTensorView dy, ConstTensorView x, ConstTensorView statistics,
                    TensorView dx, ConstTensorView dresidual) {
  if (is_rms())
    return ops::rms_norm_backward(context, dy, x, statistics, rms_norm(), dx, store_.gradient(gamma_),
                                  dresidual);
  ops::layer_norm_backward(context, dy, x, statistics, layer_norm(), dx, layer_norm_gradients(), dresidual);
}

void Norm::add_forward(Context& context, TensorView branch, ConstTensorView residual,
                       const ops::Dropout& dropout, TensorView y, TensorView statistics) const {
  if (is_rms())
    return ops::add_rms_norm_forward(context, branch, residual, dropout, rms_norm(), y, statistics);
  ops::add_layer_norm_forward(context, branch, residual, dropout, layer_norm(), y, statistics);
}

void Norm::add_backward(Context& context, ConstTensorView dy, ConstTensorView sum, ConstTensorView statistics,
                        const ops::Dropout& dropout, TensorView dsum, TensorView dbranch,
                        TensorView branch_bias, ConstTensorView dresidual) {
  if (!is_rms())
    return ops::add_layer_norm_backward(context, dy, sum, statistics, dropout, layer_norm(), dsum, dbranch,
                                        layer_norm_gradients(branch_bias), dresidual);
  PODIUM_CHECK(branch_bias.address == nullptr, "RMSNorm adds up no bias's gradient");
  ops::add_rms_norm_backward(context, dy, sum, statistics, dropout, rms_norm(), dsum, dbranch,
                             store_.gradient(gamma_), dresidual);
}

}  // namespace podium
