#include "worker/nn/feed_forward.h"

#include "worker/nn/families/family.h"

namespace podium {

FeedForward::FeedForward(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int layer)
    : inner_(tensor.share(spec.intermediate)),
      gelu_(family_of(spec).gelu),
      expand_(store, tensor, {name_in_layer(spec, layer, &FamilyNames::expand)}, spec.intermediate,
              spec.hidden),
      contract_(store, tensor, name_in_layer(spec, layer, &FamilyNames::contract), spec.hidden,
                spec.intermediate, family_of(spec).residual_deviation(spec),
                family_of(spec).names.last_norm.empty() ? BiasGradient::here : BiasGradient::behind) {}

void FeedForward::forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved) {
  saved.gelu = pass.save_all(inner_);
  saved.gelu_y = pass.save_all(inner_);
  expand_.gelu_forward(pass, x, gelu_, saved.gelu, saved.gelu_y);
  contract_.forward(pass, saved.gelu_y, y);
}

void FeedForward::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                           bool accumulate, const Saved& saved) {
  const ArenaScope scope(pass.workspace);
  const TensorView dinner = pass.temporary_all(inner_);
  contract_.backward(pass, saved.gelu_y, dy, dinner,
                     {.gelu = {saved.gelu, gelu_}, .column_sums = expand_.bias_gradient()});
  expand_.backward(pass, x, dinner, dx, accumulate);
}

}  // namespace podium
