#include "worker/nn/linear.h"

namespace podium {
namespace {

using Split = LinearOptions::Split;

Parameter weight_share(const TensorGroup& tensor, const std::string& name, Shape full,
                       const LinearOptions& options) {
  Parameter share{.name = name + ".weight", .shape = full, .deviation = options.deviation};
  if (options.split != Split::none) tensor.cut(share, options.split == Split::outputs ? 0 : 1);
  return share;
}

Parameter bias_share(const TensorGroup& tensor, const std::string& name, std::int64_t out,
                     const LinearOptions& options) {
  Parameter share{.name = name + ".bias",
                  .shape = Shape{out},
                  .decay = false,
                  .initializer = Initializer::zeros,
                  .partial_over_tensor = options.partial_bias};
  if (options.split == Split::outputs) tensor.cut(share, 0);
  return share;
}

}  // namespace

Linear::Linear(ParameterStore& store, const TensorGroup& tensor, const std::vector<LinearPart>& parts,
               std::int64_t in, const LinearOptions& options)
    : store_(store), has_bias_(options.bias), count_(static_cast<int>(parts.size())) {
  for (const LinearPart& part : parts) {
    const ParameterId id = store.add(weight_share(tensor, part.name, Shape{part.out, in}, options));
    if (&part == &parts.front()) weight_ = id;
    out_ += store[id].shape[0];
  }
  for (const LinearPart& part : parts) {
    if (!has_bias_) break;
    const ParameterId id = store.add(bias_share(tensor, part.name, part.out, options));
    if (&part == &parts.front()) bias_ = id;
  }
  store.add_renewal([this, wants_fp8 = options.fp8](Context& context, DType type, bool model_fp8) {
    if (wants_fp8 && model_fp8) return ops::float8_linear_prepare(context, current_weight(), bias(), type);
    ops::linear_prepare(context, current_weight(), bias(), type, out_);
  });
}

Linear::Linear(ParameterStore& store, ParameterId weight, const std::string& bias_name)
    : store_(store), weight_(weight), has_bias_(!bias_name.empty()), out_(store[weight].shape[0]) {
  store.add_renewal([this](Context& context, DType type, bool) {
    ops::linear_prepare(context, current_weight(), bias(), type, score_columns(type));
  });
  if (!has_bias_) return;
  Parameter bias{.name = bias_name,
                 .shape = Shape{out_},
                 .decay = false,
                 .initializer = Initializer::zeros,
                 .slice = store[weight].slice};
  bias_ = store.add(std::move(bias));
}

std::int64_t Linear::score_columns(DType type) const {
  constexpr std::int64_t kAlignedColumns = 64;  // 128 bytes of 16-bit scores
  if (store_.memory().on_host() || type == DType::f32) return out_;
  return (out_ + kAlignedColumns - 1) / kAlignedColumns * kAlignedColumns;
}

ops::LinearWeight& Linear::current_weight() {
  copies_.master = store_.weight(weight_, count_);
  if (copies_.generation != store_.generation()) copies_.rounding = store_.rounding(weight_, count_);
  copies_.generation = store_.generation();
  copies_.narrowed = store_.narrowed(weight_, count_);
  copies_.narrowed_bias = has_bias_ ? store_.narrowed(bias_, count_) : ConstTensorView{};
  return copies_;
}

TensorView Linear::bias_gradient() { return has_bias_ ? store_.gradient(bias_, count_) : TensorView{}; }

ConstTensorView Linear::bias(bool wanted) const {
  return has_bias_ && wanted ? store_.weight(bias_, count_) : ConstTensorView{};
}

void Linear::forward(Context& context, ConstTensorView x, TensorView y, bool add_bias) {
  ops::linear_forward(context, x, current_weight(), bias(add_bias), y);
}

void Linear::gelu_forward(Context& context, ConstTensorView x, ops::GeluKind kind, TensorView saved,
                          TensorView y) {
  ops::linear_gelu_forward(context, x, current_weight(), bias(true), kind, saved, y);
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

void Linear::forward(Context& context, const ops::Float8Matrix& x, TensorView y, bool add_bias) {
  ops::float8_linear_forward(context, x, current_weight(), bias(add_bias), y);
}

void Linear::backward_input(Context& context, const ops::Float8Matrix& dy, TensorView dx,
                            const ops::ProductOptions& options) {
  ops::float8_linear_backward_input(context, dy, current_weight(), dx, options);
}

void Linear::backward_weight_only(Context& context, const ops::Float8Matrix& x, const ops::Float8Matrix& dy) {
  ops::float8_linear_backward_weight(context, x, dy, store_.gradient(weight_, count_));
}

}  // namespace podium
