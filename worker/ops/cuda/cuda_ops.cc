#include "worker/ops/cuda/cuda_ops.h"

#include <nlohmann/json.hpp>

#include "worker/ops/cuda/attention.h"
#include "worker/ops/cuda/column_sums.h"
#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/cross_entropy.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/dropout.h"
#include "worker/ops/cuda/embedding.h"
#include "worker/ops/cuda/float8.h"
#include "worker/ops/cuda/gelu.h"
#include "worker/ops/cuda/inference_layer_norm.h"
#include "worker/ops/cuda/inference_linear.h"
#include "worker/ops/cuda/layer_norm.h"
#include "worker/ops/cuda/linear.h"
#include "worker/ops/cuda/matmul.h"
#include "worker/ops/cuda/optimizer.h"
#include "worker/ops/cuda/rows.h"
#include "worker/ops/cuda/tanh.h"

namespace podium::ops::cuda {
namespace {

class CudaOps final : public DeviceOps {
 public:
  std::string product_library(Context& context) override { return cuda::product_library(context); }
  void begin_timing_products(Context& context, double seconds) override {
    cuda::begin_timing_products(context, seconds);
  }
  nlohmann::json end_timing_products(Context& context) override { return cuda::end_timing_products(context); }
  void choose_products(Context& context, const nlohmann::json& choices) override {
    cuda::choose_products(context, choices);
  }
  void dropout(Context& context, ConstTensorView x, const Dropout& dropout, TensorView y) override {
    cuda::dropout(context, x, dropout, y);
  }
  void add_dropout(Context& context, TensorView branch, ConstTensorView residual,
                   const Dropout& dropout) override {
    cuda::add_dropout(context, branch, residual, dropout);
  }
  void gelu_forward(Context& context, ConstTensorView x, TensorView y, GeluKind kind) override {
    cuda::gelu_forward(context, x, y, kind);
  }
  void gelu_backward(Context& context, const SavedGelu& saved, TensorView dy) override {
    cuda::gelu_backward(context, saved, dy);
  }
  void layer_norm_forward(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                          TensorView y, TensorView statistics) override {
    cuda::layer_norm_forward(context, x, parameters, y, statistics);
  }
  void layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView x,
                           ConstTensorView statistics, const LayerNormParameters& parameters, TensorView dx,
                           const LayerNormGradients& gradients, ConstTensorView dresidual) override {
    cuda::layer_norm_backward(context, dy, x, statistics, parameters, dx, gradients, dresidual);
  }
  void add_layer_norm_forward(Context& context, TensorView branch, ConstTensorView residual,
                              const Dropout& dropout, const LayerNormParameters& parameters, TensorView y,
                              TensorView statistics) override {
    cuda::add_layer_norm_forward(context, branch, residual, dropout, parameters, y, statistics);
  }
  void add_layer_norm_backward(Context& context, ConstTensorView dy, ConstTensorView sum,
                               ConstTensorView statistics, const Dropout& dropout,
                               const LayerNormParameters& parameters, TensorView dsum, TensorView dbranch,
                               const LayerNormGradients& gradients, ConstTensorView dresidual) override {
    cuda::add_layer_norm_backward(context, dy, sum, statistics, dropout, parameters, dsum, dbranch, gradients,
                                  dresidual);
  }
  void cross_entropy(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                     CrossEntropySums* sums, std::int64_t classes) override {
    cuda::cross_entropy(context, logits, labels, sums, classes);
  }
  void cross_entropy_backward(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                              const StepValue<float>& scale, TensorView dbias, CrossEntropySums* sums,
                              std::int64_t classes) override {
    cuda::cross_entropy_backward(context, logits, labels, scale, dbias, sums, classes);
  }
  void class_maxima(Context& context, ConstTensorView logits, TensorView maxima,
                    std::int64_t classes) override {
    cuda::class_maxima(context, logits, maxima, classes);
  }
  void class_sums(Context& context, ConstTensorView logits, std::span<const std::int32_t> labels,
                  std::int64_t first_class, ConstTensorView maxima, TensorView sums,
                  std::int64_t classes) override {
    cuda::class_sums(context, logits, labels, first_class, maxima, sums, classes);
  }
  void class_totals(Context& context, std::span<const std::int32_t> labels, ConstTensorView maxima,
                    ConstTensorView sums, CrossEntropySums* totals) override {
    cuda::class_totals(context, labels, maxima, sums, totals);
  }
  void class_gradients(Context& context, TensorView logits, std::span<const std::int32_t> labels,
                       std::int64_t first_class, ConstTensorView maxima, ConstTensorView sums,
                       const StepValue<float>& scale, TensorView dbias, std::int64_t classes) override {
    cuda::class_gradients(context, logits, labels, first_class, maxima, sums, scale, dbias, classes);
  }
  void embedding_forward(Context& context, const EmbeddingInput& input, const EmbeddingTables& tables,
                         TensorView y) override {
    cuda::embedding_forward(context, input, tables, y);
  }
  void embedding_backward(Context& context, const EmbeddingInput& input, ConstTensorView dy,
                          const EmbeddingGradients& gradients) override {
    cuda::embedding_backward(context, input, dy, gradients);
  }
  void narrow_weights(Context& context, ConstTensorView from, TensorView to) override {
    cuda::narrow(context, elements<float>(from), from.size(), to.address, to.dtype);
  }
  void prepare_weight(Context& context, LinearWeight& weight, DType type, std::int64_t columns) override {
    cuda::prepare_weight(context, weight, type, columns);
  }
  void prepare_bias(Context& context, LinearWeight& weight, ConstTensorView bias, DType type,
                    std::int64_t columns) override {
    cuda::prepare_bias(context, weight, bias, type, columns);
  }
  void linear_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                      TensorView y) override {
    cuda::linear_forward(context, x, weight, bias, y);
  }
  void linear_gelu_forward(Context& context, ConstTensorView x, LinearWeight& weight, ConstTensorView bias,
                           GeluKind kind, TensorView saved, TensorView y) override {
    cuda::linear_gelu_forward(context, x, weight, bias, kind, saved, y);
  }
  void linear_backward_input(Context& context, ConstTensorView dy, LinearWeight& weight, TensorView dx,
                             const ProductOptions& options) override {
    cuda::linear_backward_input(context, dy, weight, dx, options);
  }
  void linear_backward_weight(Context& context, ConstTensorView x, ConstTensorView dy, TensorView dw,
                              TensorView db) override {
    cuda::linear_backward_weight(context, x, dy, dw, db);
  }
  void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out) override {
    cuda::to_float8(context, x, out);
  }
  void float8_linear_forward(Context& context, const Float8Matrix& x, const Float8Matrix& w,
                             LinearWeight& weight, ConstTensorView bias, TensorView y) override {
    cuda::float8_linear_forward(context, x, w, weight, bias, y);
  }
  void float8_linear_backward_input(Context& context, const Float8Matrix& dy, const Float8Matrix& w,
                                    TensorView dx, const ProductOptions& options) override {
    cuda::float8_linear_backward_input(context, dy, w, dx, options);
  }
  void float8_linear_backward_weight(Context& context, const Float8Matrix& x, const Float8Matrix& dy,
                                     TensorView dw) override {
    cuda::float8_linear_backward_weight(context, x, dy, dw);
  }
  void add_column_sums(Context& context, ConstTensorView x, TensorView sums) override {
    cuda::add_column_sums(context, x, {}, sums);
  }
  void gather_rows(Context& context, ConstTensorView x, std::span<const std::int32_t> rows,
                   TensorView y) override {
    cuda::gather_rows(context, x, rows, y);
  }
  void scatter_add_rows(Context& context, ConstTensorView dy, std::span<const std::int32_t> rows,
                        TensorView dx) override {
    cuda::scatter_add_rows(context, dy, rows, dx);
  }
  void tanh_forward(Context& context, TensorView x) override { cuda::tanh_forward(context, x); }
  void tanh_backward(Context& context, ConstTensorView y, TensorView dy) override {
    cuda::tanh_backward(context, y, dy);
  }
  AttentionSaved attention_saved(const AttentionShape& shape, const Dropout& dropout) override {
    return cuda::attention_saved(shape, dropout);
  }
  void attention_forward(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                         std::span<const std::int32_t> valid_lengths, const Dropout& dropout,
                         TensorView saved, TensorView out) override {
    cuda::attention_forward(context, shape, qkv, valid_lengths, dropout, saved, out);
  }
  void attention_backward(Context& context, const AttentionShape& shape, ConstTensorView dout,
                          ConstTensorView out, ConstTensorView qkv,
                          std::span<const std::int32_t> valid_lengths, ConstTensorView saved,
                          const Dropout& dropout, TensorView dqkv, TensorView column_sums) override {
    cuda::attention_backward(context, shape, dout, out, qkv, valid_lengths, saved, dropout, dqkv,
                             column_sums);
  }
  void inference_attention(Context& context, const AttentionShape& shape, ConstTensorView qkv,
                           std::span<const std::int32_t> valid_lengths, TensorView out,
                           float out_scale) override {
    cuda::inference_attention(context, shape, qkv, valid_lengths, out, out_scale);
  }
  void inference_linear(Context& context, ConstTensorView x, InferenceWeight& weight,
                        const InferenceEpilogue& epilogue, TensorView y) override {
    cuda::inference_linear(context, x, weight, epilogue, y);
  }
  void inference_layer_norm(Context& context, ConstTensorView x, const LayerNormParameters& parameters,
                            TensorView y, const QuantisedCopy& copy) override {
    cuda::inference_layer_norm(context, x, parameters, y, copy);
  }
  void sum_of_squares(Context& context, const OptimizerShard& shard, std::span<double> sums) override {
    cuda::sum_of_squares(context, shard, sums);
  }
  void adamw(Context& context, const OptimizerShard& shard, const Rates& rates) override {
    cuda::adamw(context, shard, rates);
  }
  void lamb_direction(Context& context, const OptimizerShard& shard, const Rates& rates,
                      std::span<Squares> squares) override {
    cuda::lamb_direction(context, shard, rates, squares);
  }
  void lamb_scales(Context& context, const OptimizerShard& shard, std::span<const std::int32_t> chunk_begins,
                   std::span<const Squares> squares, float learning_rate, std::span<float> scales) override {
    cuda::lamb_scales(context, shard, chunk_begins, squares, learning_rate, scales);
  }
  void lamb_step(Context& context, const OptimizerShard& shard, std::span<const float> scales) override {
    cuda::lamb_step(context, shard, scales);
  }
};

}  // namespace

std::unique_ptr<DeviceOps> make_cuda_ops() { return std::make_unique<CudaOps>(); }

}  // namespace podium::ops::cuda
