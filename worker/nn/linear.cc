#include "worker/nn/linear.h"

#include <utility>

#include "worker/ops/fake_quantise.h"
#include "worker/tensor/profiler.h"

namespace podium {
namespace {

using Split = LinearOptions::Split;

Parameter weight_share(const TensorGroup& tensor, const std::string& name, Shape full,
                       const LinearOptions& options) {
  Parameter share{
      .name = name + ".weight", .shape = full, .deviation = options.deviation, .prunable = options.of_layer};
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
    : store_(store),
      sharing_inputs_(options.split == Split::inputs ? &tensor : nullptr),
      of_layer_(options.of_layer),
      has_bias_(options.bias),
      count_(static_cast<int>(parts.size())) {
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
  store.add_renewal([this](Context& context, DType type, bool model_fp8) {
    ops::LinearWeight& weight = current_weight(context);
    if (of_layer_ && model_fp8) return ops::float8_linear_prepare(context, weight, bias(), type);
    ops::linear_prepare(context, weight, bias(), type, out_);
  });
}

Linear::Linear(ParameterStore& store, ParameterId weight, const std::string& bias_name)
    : store_(store), weight_(weight), has_bias_(!bias_name.empty()), out_(store[weight].shape[0]) {
  store.add_renewal([this](Context& context, DType type, bool) {
    ops::linear_prepare(context, current_weight(context), bias(), type, score_columns(type));
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

ops::LinearWeight& Linear::current_weight(Context& context) {
  const bool renewed = copies_.generation != store_.generation();
  copies_.master = store_.weight(weight_, count_);
  if (renewed) copies_.rounding = store_.rounding(weight_, count_);
  copies_.generation = store_.generation();
  copies_.narrowed = store_.narrowed(weight_, count_);
  copies_.narrowed_bias = has_bias_ ? store_.narrowed(bias_, count_) : ConstTensorView{};
  if (const std::optional<DType> type = store_.quantised_to(); of_layer_ && type) {
    if (renewed) round_weight(context, *type);
    copies_.master = std::as_const(rounded_).view();
    copies_.narrowed = {};
  }
  return copies_;
}

// By the largest magnitude of each whole row.
void Linear::round_weight(Context& context, DType type) {
  const ConstTensorView master = copies_.master;
  if (rounded_.shape() != master.shape) {
    rounded_ = Tensor(DType::f32, master.shape, context.memory.device);
    row_ranges_ = Tensor(DType::f32, Shape{out_}, context.memory.device);
    if (context.profiler != nullptr)
      context.profiler->add_memory("weight copies", static_cast<std::int64_t>(rounded_.view().bytes()));
  }
  const TensorView ranges = row_ranges_.view();
  context.memory.clear(ranges.address, ranges.bytes());
  ops::widen_ranges(context, master, ranges);
  if (sharing_inputs_ != nullptr) sharing_inputs_->reduce(ranges, Reduction::max);
  ops::fake_quantise(context, master, type, ranges, rounded_.view());
}

TensorView Linear::bias_gradient() { return has_bias_ ? store_.gradient(bias_, count_) : TensorView{}; }

ConstTensorView Linear::bias(bool wanted) const {
  return has_bias_ && wanted ? store_.weight(bias_, count_) : ConstTensorView{};
}

void Linear::forward(Context& context, ConstTensorView x, TensorView y, bool add_bias) {
  ops::linear_forward(context, x, current_weight(context), bias(add_bias), y);
}

void Linear::gelu_forward(Context& context, ConstTensorView x, ops::GeluKind kind, TensorView saved,
                          TensorView y) {
  ops::linear_gelu_forward(context, x, current_weight(context), bias(true), kind, saved, y);
}

void Linear::backward_input(Context& context, ConstTensorView dy, TensorView dx,
                            const ops::ProductOptions& options) {
  ops::linear_backward_input(context, dy, current_weight(context), dx, options);
}

void Linear::backward_weight(Context& context, ConstTensorView x, ConstTensorView dy) {
  ops::linear_backward_weight(context, x, dy, store_.gradient(weight_, count_), bias_gradient());
}

void Linear::backward_weight_only(Context& context, ConstTensorView x, ConstTensorView dy) {
  ops::linear_backward_weight(context, x, dy, store_.gradient(weight_, count_), {});
}

void Linear::forward(Context& context, const ops::Float8Matrix& x, TensorView y, bool add_bias) {
  ops::float8_linear_forward(context, x, current_weight(context), bias(add_bias), y);
}

void Linear::backward_input(Context& context, const ops::Float8Matrix& dy, TensorView dx,
                            const ops::ProductOptions& options) {
  ops::float8_linear_backward_input(context, dy, current_weight(context), dx, options);
}

void Linear::backward_weight_only(Context& context, const ops::Float8Matrix& x, const ops::Float8Matrix& dy) {
  ops::float8_linear_backward_weight(context, x, dy, store_.gradient(weight_, count_));
}

}  // namespace podium
