#include "worker/nn/feed_forward.h"

#include "common/model/family.h"
#include "worker/nn/families/family.h"
#include "worker/nn/layer_products.h"
#include "worker/ops/swiglu.h"

namespace podium {
namespace {

std::vector<LinearPart> expand_parts(const ModelSpec& spec, int layer) {
  std::vector<LinearPart> parts;
  if (traits_of(spec.family).gated)
    parts.push_back({name_in_layer(spec, layer, &FamilyNames::gate), spec.intermediate});
  parts.push_back({name_in_layer(spec, layer, &FamilyNames::expand), spec.intermediate});
  return parts;
}

}  // namespace

FeedForward::FeedForward(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, int layer)
    : inner_(tensor.share(spec.intermediate)),
      gated_(traits_of(spec.family).gated),
      gelu_(family_of(spec).gelu),
      expand_(store, tensor, expand_parts(spec, layer), spec.hidden, family_of(spec).biases,
              layer_products(layer).expand),
      contract_(store, tensor, name_in_layer(spec, layer, &FamilyNames::contract), spec.hidden,
                spec.intermediate, family_of(spec).residual_deviation(spec), family_of(spec).biases,
                family_of(spec).names.last_norm.empty() ? BiasGradient::here : BiasGradient::behind,
                layer_products(layer).contract) {}

void FeedForward::forward(const PassContext& pass, ConstTensorView x, TensorView y, Saved& saved) {
  saved.inner = pass.save_all(gated_ ? 2 * inner_ : inner_);
  saved.activated = pass.save_all(inner_);
  if (gated_) {
    expand_.forward(pass, x, saved.inner);
    ops::swiglu_forward(pass.context, saved.inner, saved.activated);
  } else {
    expand_.gelu_forward(pass, x, gelu_, saved.inner, saved.activated);
  }
  contract_.forward(pass, saved.activated, y);
}

void FeedForward::backward(const PassContext& pass, ConstTensorView x, ConstTensorView dy, TensorView dx,
                           bool accumulate, const Saved& saved) {
  const ArenaScope scope(pass.workspace);
  const TensorView dinner = pass.temporary_all(saved.inner.shape[1]);
  if (gated_) {
    const TensorView dactivated = pass.temporary_all(inner_);
    contract_.backward(pass, saved.activated, dy, dactivated);
    ops::swiglu_backward(pass.context, saved.inner, dactivated, dinner);
  } else {
    contract_.backward(pass, saved.activated, dy, dinner,
                       {.gelu = {saved.inner, gelu_}, .column_sums = expand_.bias_gradient()});
  }
  expand_.backward(pass, x, dinner, dx, accumulate);
}

}  // namespace podium
