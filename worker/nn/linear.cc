#include "worker/nn/linear.h"

namespace podium {

Linear::Linear(ParameterStore& store, const std::vector<std::string>& names, std::int64_t out,
               std::int64_t in)
    : store_(store), count_(static_cast<int>(names.size())), out_(count_ * out) {
  for (const std::string& name : names) {
    const ParameterId id = store.add(name + ".weight", Shape{out, in}, Initializer::normal, true);
    if (name == names.front()) weight_ = id;
  }
  for (const std::string& name : names) {
    const ParameterId id = store.add(name + ".bias", Shape{out}, Initializer::zeros, false);
    if (name == names.front()) bias_ = id;
  }
}

Linear::Linear(ParameterStore& store, ParameterId tied_weight, const std::string& bias_name)
    : store_(store),
      weight_(tied_weight),
      bias_(store.add(bias_name, Shape{store[tied_weight].shape[0]}, Initializer::zeros, false)),
      out_(store[tied_weight].shape[0]) {}

ops::LinearWeight& Linear::current_weight() {
  copies_.master = store_.weight(weight_, count_);
  copies_.generation = store_.generation();
  return copies_;
}

void Linear::forward(Context& context, ConstTensorView x, TensorView y) {
  ops::linear_forward(context, x, current_weight(), store_.weight(bias_, count_), y);
}

void Linear::backward_input(Context& context, ConstTensorView dy, TensorView dx,
                            const ops::ProductOptions& options) {
  ops::linear_backward_input(context, dy, current_weight(), dx, options);
}

void Linear::backward_weight(Context& context, ConstTensorView x, ConstTensorView dy) {
  ops::linear_backward_weight(context, x, dy, store_.gradient(weight_, count_), bias_gradient());
}

void Linear::backward_weight_only(Context& context, ConstTensorView x, ConstTensorView dy) {
  ops::linear_backward_weight(context, x, dy, store_.gradient(weight_, count_), {});
}

}  // namespace podium
