// A dense layer bound to its parameters. A tensor-parallel rank may hold a share of them: some outputs (rows
// of the weight) or some inputs (columns). Several layers (query, key, value) may be stacked and computed as
// one. A Linear does not move, because the store renews its copies of the weight.
#pragma once

#include <string>
#include <vector>

#include "worker/nn/parameters.h"
#include "worker/nn/tensor_group.h"
#include "worker/ops/float8.h"

namespace podium {

// One of the layers that a Linear computes.
struct LinearPart {
  std::string name;
  std::int64_t out;
};

struct LinearOptions {
  enum class Split { none, outputs, inputs } split = Split::none;
  bool bias = true;
  double deviation = 1.0;     // as in Parameter
  bool partial_bias = false;  // as Parameter::partial_over_tensor
  // One of a layer's products (layer_products.h): multiplies in FP8, has its weight rounded and pruned where
  // the model does so.
  bool of_layer = false;
};

class Linear {
 public:
  // Declares this rank's share of `<name>.weight` [out, in] and, with biases, `<name>.bias` [out] for each of
  // `parts`.
  Linear(ParameterStore& store, const TensorGroup& tensor, const std::vector<LinearPart>& parts,
         std::int64_t in, const LinearOptions& options = {});
  // Scores words by a weight that is declared elsewhere. An empty `bias_name` means no bias. y has
  // score_columns() columns.
  Linear(ParameterStore& store, ParameterId weight, const std::string& bias_name);
  Linear(const Linear&) = delete;
  Linear& operator=(const Linear&) = delete;

  std::int64_t out() const { return out_; }  // of this rank's share of all parts
  // Rounded up on a device, so that rows of 16-bit scores begin at aligned addresses whatever the
  // vocabulary's size.
  std::int64_t score_columns(DType type) const;

  void forward(Context& context, ConstTensorView x, TensorView y, bool add_bias = true);
  void gelu_forward(Context& context, ConstTensorView x, ops::GeluKind kind, TensorView saved, TensorView y);
  void backward_input(Context& context, ConstTensorView dy, TensorView dx,
                      const ops::ProductOptions& options = {});
  void backward_weight(Context& context, ConstTensorView x, ConstTensorView dy);
  // For layers whose bias gradient another op adds up.
  void backward_weight_only(Context& context, ConstTensorView x, ConstTensorView dy);

  // The same in FP8.
  void forward(Context& context, const ops::Float8Matrix& x, TensorView y, bool add_bias = true);
  void backward_input(Context& context, const ops::Float8Matrix& dy, TensorView dx,
                      const ops::ProductOptions& options = {});
  void backward_weight_only(Context& context, const ops::Float8Matrix& x, const ops::Float8Matrix& dy);

  TensorView bias_gradient();  // has no address if there is no bias

 private:
  ops::LinearWeight& current_weight(Context& context);
  void round_weight(Context& context, DType type);
  ConstTensorView bias(bool wanted = true) const;

  ParameterStore& store_;
  const TensorGroup* sharing_inputs_ = nullptr;  // where each rank has a part of every row of the weight
  bool of_layer_ = false;
  ParameterId weight_;
  ParameterId bias_;
  bool has_bias_ = true;
  int count_ = 1;
  std::int64_t out_ = 0;
  Tensor rounded_, row_ranges_;  // only where the store says that weights are quantised
  ops::LinearWeight copies_;
};

}  // namespace podium
