#include "worker/nn/activation_ranges.h"

#include <cmath>
#include <utility>

#include "worker/ops/fake_quantise.h"

namespace podium {
namespace {

float moved_on(float average, float noted, double decay) {
  if (!std::isfinite(noted) || noted == 0.0F) return average;
  if (average == 0.0F) return noted;
  return static_cast<float>(decay * average + (1 - decay) * noted);
}

}  // namespace

ActivationRanges::ActivationRanges(MemorySpace memory, int products, DType type, double decay)
    : memory_(memory),
      type_(type),
      decay_(decay),
      ranges_(DType::f32, Shape{products}, memory.device),
      noted_(DType::f32, Shape{products}, memory.device) {
  forget();
}

void ActivationRanges::set(std::vector<float> averages) {
  PODIUM_CHECK(static_cast<std::int64_t>(averages.size()) == ranges_.shape().size(),
               "every product of the model has a range");
  averages_ = std::move(averages);
  memory_.upload<float>(ranges_.view().values<float>(), averages_);
}

void ActivationRanges::update(Communicator& world) {
  std::vector<float> noted = memory_.downloaded<float>(std::as_const(noted_).view().values<float>());
  forget();
  world.all_reduce(view_of(std::span(noted), ranges_.shape()), Reduction::max).get();
  std::vector<float> averages = known() ? averages_ : std::vector<float>(noted.size());
  for (std::size_t i = 0; i < noted.size(); ++i) averages[i] = moved_on(averages[i], noted[i], decay_);
  set(std::move(averages));
}

void ActivationRanges::forget() {
  const TensorView noted = noted_.view();
  memory_.clear(noted.address, noted.bytes());
}

ConstTensorView ActivationRanges::range(int product) const {
  return {ranges_.view().data<float>() + product, DType::f32, Shape{1}};
}

TensorView ActivationRanges::noted(int product) {
  return {noted_.view().data<float>() + product, DType::f32, Shape{1}};
}

ConstTensorView ActivationRanges::forward(const PassContext& pass, int product, ConstTensorView x) {
  if (pass.training || !known()) ops::widen_ranges(pass.context, x, noted(product));
  return rounded(pass, product, x);
}

ConstTensorView ActivationRanges::rounded(const PassContext& pass, int product, ConstTensorView x) const {
  if (!known()) return x;
  const TensorView result = pass.workspace.allocate(x.dtype, x.shape);
  ops::fake_quantise(pass.context, x, type_, range(product), result);
  return result;
}

void ActivationRanges::backward(const PassContext& pass, int product, ConstTensorView x,
                                ConstTensorView drounded, bool accumulate, TensorView dx) const {
  ops::fake_quantise_backward(pass.context, x, type_, range(product), drounded, accumulate, dx);
}

}  // namespace podium
