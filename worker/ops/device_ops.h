// The seam between the ops and a device back end in a shared object of its own: what the ops' headers of this
// folder promise, over tensors, labels, ids and row numbers in the device's memory. The ops have checked the
// arguments. Work is put on the context's stream and not waited for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "worker/ops/attention.h"
#include "worker/ops/cross_entropy.h"
#include "worker/ops/dropout.h"
#include "worker/ops/embedding.h"
#include "worker/ops/float8.h"
#include "worker/ops/gelu.h"
#include "worker/ops/inference_attention.h"
#include "worker/ops/inference_layer_norm.h"
#include "worker/ops/inference_linear.h"
#include "worker/ops/layer_norm.h"
#include "worker/ops/linear.h"
#include "worker/ops/optimizer.h"
#include "worker/ops/rows.h"
#include "worker/ops/tanh.h"

namespace podium::ops {

class DeviceOps {
 public:
  virtual ~DeviceOps() = default;

  // The library that products are computed by, and its version.
  virtual std::string product_library(Context& context) = 0;
  // For so long (0 or more), or until the end is asked for, products that come up for the first time are
  // computed by the fastest of several ways, which computes them, and adds to sums, several times over. Which
  // way each of them took is told at the end, as JSON (worker/ops/cuda/product_choices.h).
  virtual void begin_timing_products(Context& context, double seconds) = 0;
  virtual nlohmann::json end_timing_products(Context& context) = 0;
  // Takes such choices from now on. Throws std::exception where they cannot be read, and takes none.
  virtual void choose_products(Context& context, const nlohmann::json& choices) = 0;

  virtual void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) = 0;
  virtual void add_dropout(Context& context, TensorView branch, ConstTensorView residual,
                           const Dropout& dropout) = 0;
  virtual void gelu_forward(Context& context, ConstTensorView x, TensorView y, GeluKind kind) = 0;
  virtual void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) = 0;
  virtual void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                                  TensorView y, TensorView statistics) = 0;
  virtual void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x,
                                   ConstTensorView statistics, const LayerNormParameters& parameters,
                                   TensorView dx, const LayerNormGradients& gradients,
                                   ConstTensorView dresidual) = 0;
  virtual void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                                      const Dropout& dropout, const LayerNormParameters& parameters,
                                      TensorView y, TensorView statistics) = 0;
  virtual void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                                       ConstTensorView statistics, const Dropout& dropout,
                                       const LayerNormParameters& parameters, TensorView dsum,
                                       TensorView dbranch, const LayerNormGradients& gradients,
                                       ConstTensorView dresidual) = 0;
  virtual void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                             CrossEntropySums* sums, std::int64_t classes) = 0;
  virtual void cross_entropy_backward(Context& context, TensorView logits,
                                      std::span<const std::int32_t> labels, const StepValue<float>& scale,
                                      TensorView dbias, CrossEntropySums* sums, std::int64_t classes) = 0;
  virtual void class_maxima(Context& context, ConstTensorView logits, TensorView maxima,
                            std::int64_t classes) = 0;
  virtual void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                          std::int64_t first_class, ConstTensorView maxima, TensorView sums,
                          std::int64_t classes) = 0;
  virtual void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                            ConstTensorView sums, CrossEntropySums* totals) = 0;
  virtual void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                               std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                               const StepValue<float>& scale, TensorView dbias, std::int64_t classes) = 0;
  virtual void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                                 TensorView y) = 0;
  virtual void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                                  const EmbeddingGradients& gradients) = 0;
  virtual void narrow_weights(Context& context, ConstTensorView from, TensorView to) = 0;
  // Of linear_prepare.
  virtual void prepare_weight(Context& context, LinearWeight& weight, DType type, std::int64_t columns) = 0;
  virtual void prepare_bias(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                            std::int64_t columns) = 0;
  virtual void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                              TensorView y) = 0;
  virtual void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight,
                                   ConstTensorView bias, GeluKind kind, TensorView saved, TensorView y) = 0;
  virtual void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight,
                                     TensorView dx, const ProductOptions& options) = 0;
  virtual void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                                      TensorView db) = 0;
  virtual void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out) = 0;
  virtual void float8_linear_forward(Context& context, const Float8Matrix& x, const Float8Matrix& w,
                                     LinearWeight& weight, ConstTensorView bias, TensorView y) = 0;
  virtual void float8_linear_backward_input(Context& context, const Float8Matrix& dy, const Float8Matrix& w,
                                            TensorView dx, const ProductOptions& options) = 0;
  virtual void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                             TensorView dw) = 0;
  virtual void add_column_sums(Context& context, ConstTensorView x, TensorView sums) = 0;
  virtual void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows,
                           TensorView y) = 0;
  virtual void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                                TensorView dx) = 0;
  virtual void tanh_forward(Context& context, TensorView x) = 0;
  virtual void tanh_backward(Context& context, ConstTensorView y, TensorView dy) = 0;
  virtual AttentionSaved attention_saved(const AttentionShape& shape, const Dropout& dropout) = 0;
  virtual void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                                 std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                                 TensorView saved, TensorView out) = 0;
  virtual void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                                  ConstTensorView out, ConstTensorView qkv,
                                  std::span<const std::int32_t> valid_lengths, ConstTensorView saved,
                                  const Dropout& dropout, TensorView dqkv, TensorView column_sums) = 0;
  virtual void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                                   std::span<const std::int32_t> valid_lengths, TensorView out,
                                   float out_scale) = 0;
  virtual void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                                const InferenceEpilogue& epilogue, TensorView y) = 0;
  virtual void inference_layer_norm(Context& context, ConstTensorView x,
                                    const LayerNormParameters& parameters, TensorView y,
                                    const QuantisedCopy& copy) = 0;
  virtual void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums) = 0;
  virtual void adamw(Context& context, const OptimizerShard& shard, const Rates& rates) = 0;
  virtual void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                              std::span<Squares> squares) = 0;
  virtual void lamb_scales(Context& context, const OptimizerShard& shard,
                           std::span<const std::int32_t> chunk_begins, std::span<const Squares> squares,
                           float learning_rate, std::span<float> scales) = 0;
  virtual void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales) = 0;
};

}  // namespace podium::ops
