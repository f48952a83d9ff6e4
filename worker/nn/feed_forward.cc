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

void FeedForward::forward(const Step& step, ConstTensorView x, TensorView y, Saved& saved) {
  saved.gelu = step.save_all(inner_);
  saved.gelu_y = step.save_all(inner_);
  expand_.gelu_forward(step, x, gelu_, saved.gelu, saved.gelu_y);
  contract_.forward(step, saved.gelu_y, y);
}

void FeedForward::backward(const Step& step, ConstTensorView x, ConstTensorView dy, TensorView dx,
                           bool accumulate, const Saved& saved) {
  const ArenaScope scope(step.workspace);
  const TensorView dinner = step.temporary_all(inner_);
  contract_.backward(step, saved.gelu_y, dy, dinner,
                     {.gelu = {saved.gelu, gelu_}, .column_sums = expand_.bias_gradient()});
  expand_.backward(step, x, dinner, dx, accumulate);
}

}  // namespace podium
