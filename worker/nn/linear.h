// A dense layer bound to its parameters. Several stacked ones (query, key, value) compute as one.
#pragma once

#include <string>
#include <vector>

#include "worker/nn/parameters.h"
#include "worker/ops/linear.h"

namespace podium {

class Linear {
 public:
  // Declares `<name>.weight` [out, in] and `<name>.bias` [out] for each of `names`.
  Linear(ParameterStore& store, const std::vector<std::string>& names, std::int64_t out, std::int64_t in);
  // Shares a weight declared elsewhere and declares the bias alone.
  Linear(ParameterStore& store, ParameterId tied_weight, const std::string& bias_name);

  std::int64_t out() const { return out_; }

  void forward(Context& context, ConstTensorView x, TensorView y);
  void backward_input(Context& context, ConstTensorView dy, TensorView dx,
                      const ops::ProductOptions& options = {});
  void backward_weight(Context& context, ConstTensorView x, ConstTensorView dy);
  // Where the bias gradient has been taken care of already.
  void backward_weight_only(Context& context, ConstTensorView x, ConstTensorView dy);

  TensorView bias_gradient() { return store_.gradient(bias_, count_); }

 private:
  ops::LinearWeight& current_weight();

  ParameterStore& store_;
  ParameterId weight_;
  ParameterId bias_;
  int count_ = 1;
  std::int64_t out_ = 0;
  ops::LinearWeight copies_;
};

}  // namespace podium
