#include "worker/infer/bert_session.h"

#include "worker/ops/embedding.h"
#include "worker/ops/inference_attention.h"
#include "worker/ops/inference_layer_norm.h"
#include "worker/ops/rows.h"
#include "worker/ops/tanh.h"

namespace podium {
namespace {

std::span<const std::int32_t> integers(const Tensor& tensor) { return tensor.view().values<std::int32_t>(); }

void check_range(std::span<const std::int32_t> values, std::int64_t begin, std::int64_t end,
                 const char* what) {
  for (const std::int32_t value : values) PODIUM_CHECK(value >= begin && value < end, what);
}

}  // namespace

BertSession::BertSession(Context& context, BertWeights& weights, const SessionShape& shape)
    : context_(context), weights_(weights), shape_(shape) {
  const ModelSpec& spec = weights.spec;
  PODIUM_CHECK(shape.sequences > 0 && shape.length > 0 && shape.length <= spec.max_positions,
               "a session has between 1 and the model's positions");
  const std::int64_t hidden = spec.hidden;
  ids_ = allocate(DType::i32, rows(), 1);
  types_ = allocate(DType::i32, rows(), 1);
  valid_lengths_ = allocate(DType::i32, shape.sequences, 1);
  first_rows_ = allocate(DType::i32, shape.sequences, 1);
  x_ = allocate(weights.activation, rows(), hidden);
  short_x_ = allocate(weights.product, quantised() ? rows() : 0, hidden);
  qkv_ =
      allocate(quantised() ? ops::quantised_attention_type(context, weights.activation) : weights.activation,
               rows(), 3 * hidden);
  heads_ = allocate(weights.product, rows(), hidden);
  sum_ = allocate(weights.activation, rows(), hidden);
  inner_ = allocate(weights.product, rows(), spec.intermediate);
  first_ = allocate(weights.activation, shape.sequences, hidden);
  pooled_ = allocate(weights.activation, shape.sequences, hidden);
  next_sentence_ = allocate(DType::f32, shape.sequences, 2);
  span_ = allocate(DType::f32, weights.span ? rows() : 0, 2);
  if (weights.classifier)
    classes_ = allocate(DType::f32, shape.sequences, weights.classifier->values.shape()[0]);
  masked_rows_ = allocate(DType::i32, shape.predictions, 1);
  picked_ = allocate(weights.activation, shape.predictions, hidden);
  transformed_ = allocate(weights.activation, shape.predictions, hidden);
  predictions_ = allocate(DType::f32, shape.predictions, spec.vocab);

  std::vector<std::int32_t> first(static_cast<std::size_t>(shape.sequences));
  for (int s = 0; s < shape.sequences; ++s) first[static_cast<std::size_t>(s)] = s * shape.length;
  context.memory.upload<std::int32_t>(first_rows_.view().values<std::int32_t>(), first);
}

Tensor BertSession::allocate(DType type, std::int64_t rows, std::int64_t columns) const {
  return {type, Shape{rows, columns}, context_.memory.device};
}

void BertSession::set_inputs(const InferenceBatch& batch) {
  const auto count = static_cast<std::size_t>(rows()), sequences = static_cast<std::size_t>(shape_.sequences);
  InferenceBatch full = batch;
  if (full.types.empty()) full.types.assign(count, 0);
  if (full.valid_lengths.empty()) full.valid_lengths.assign(sequences, shape_.length);
  PODIUM_CHECK(full.ids.size() == count && full.types.size() == count &&
                   full.valid_lengths.size() == sequences &&
                   full.masked_rows.size() <= static_cast<std::size_t>(shape_.predictions),
               "a batch is of its session's shape");
  full.masked_rows.resize(static_cast<std::size_t>(shape_.predictions), -1);
  check_range(full.ids, 0, weights_.spec.vocab, "ids are of the vocabulary");
  check_range(full.types, 0, 2, "there are two token types");
  check_range(full.valid_lengths, 1, shape_.length + 1, "valid lengths lie within the sequence");
  check_range(full.masked_rows, -1, rows(), "masked rows are rows of the batch");
  const auto upload = [&](Tensor& to, const std::vector<std::int32_t>& from) {
    context_.memory.upload<std::int32_t>(to.view().values<std::int32_t>(), from);
  };
  upload(ids_, full.ids);
  upload(types_, full.types);
  upload(valid_lengths_, full.valid_lengths);
  upload(masked_rows_, full.masked_rows);
}

void BertSession::run(const ProductObserver& observer) {
  observer_ = observer;
  const bool recorded = context_.recordings && !context_.memory.on_host() && context_.profiler == nullptr &&
                        observer == nullptr;
  if (!recorded) return compute();
  recording_.run(*context_.memory.stream, context_.state ? context_.state->moves : 0, ran_,
                 [&] { compute(); });
  ran_ = true;
}

void BertSession::compute() {
  embed();
  for (std::size_t i = 0; i < weights_.layers.size(); ++i)
    run_layer(weights_.layers[i], i + 1 < weights_.layers.size() ? &weights_.layers[i + 1] : nullptr);
  if (weights_.prediction && shape_.predictions > 0) predict(*weights_.prediction);
  if (weights_.pooler) pool();
  if (weights_.span) ops::inference_linear(context_, x_.view(), weights_.span->weight, {}, span_.view());
}

void BertSession::embed() {
  ops::embedding_forward(
      context_, {.ids = integers(ids_), .types = integers(types_), .length = shape_.length},
      {.word = weights_.word.view(), .position = weights_.position.view(), .type = weights_.type.view()},
      x_.view());
  norm(weights_.embeddings_norm, x_.view(), x_.view(), &weights_.layers.front().query_key_value);
}

void BertSession::run_layer(EncoderLayer& layer, const EncoderLayer* next) {
  const ModelSpec& spec = weights_.spec;
  const ops::AttentionShape heads{.sequences = shape_.sequences,
                                  .length = shape_.length,
                                  .heads = spec.heads,
                                  .head_size = spec.hidden / spec.heads};
  product(layer.query_key_value, product_input(), {}, qkv_.view());
  ops::inference_attention(context_, heads, qkv_.view(), integers(valid_lengths_), heads_.view(),
                           layer.attention_output.input_scale);
  product(layer.attention_output, heads_.view(), {.residual = x_.view()}, sum_.view());
  norm(layer.attention_norm, sum_.view(), x_.view(), &layer.expand);
  product(layer.expand, product_input(),
          {.activation = ops::Activation::gelu, .y_scale = layer.contract.input_scale}, inner_.view());
  product(layer.contract, inner_.view(), {.residual = x_.view()}, sum_.view());
  norm(layer.output_norm, sum_.view(), x_.view(), next == nullptr ? nullptr : &next->query_key_value);
}

void BertSession::predict(PredictionHead& head) {
  ops::gather_rows(context_, x_.view(), integers(masked_rows_), picked_.view());
  ops::inference_linear(context_, picked_.view(), head.transform.weight,
                        {.activation = ops::Activation::gelu}, transformed_.view());
  norm(head.norm, transformed_.view(), transformed_.view(), nullptr);
  ops::inference_linear(context_, transformed_.view(), head.decoder.weight, {}, predictions_.view());
}

void BertSession::pool() {
  ops::gather_rows(context_, x_.view(), integers(first_rows_), first_.view());
  ops::inference_linear(context_, first_.view(), weights_.pooler->weight, {}, pooled_.view());
  ops::tanh_forward(context_, pooled_.view());
  if (weights_.next_sentence)
    ops::inference_linear(context_, pooled_.view(), weights_.next_sentence->weight, {},
                          next_sentence_.view());
  if (weights_.classifier)
    ops::inference_linear(context_, pooled_.view(), weights_.classifier->weight, {}, classes_.view());
}

void BertSession::product(DenseLayer& layer, ConstTensorView x, const ops::InferenceEpilogue& epilogue,
                          TensorView y) {
  if (observer_) observer_(layer.name, x);
  ops::inference_linear(context_, x, layer.weight, epilogue, y);
}

// `reader`: the product that reads the result, in 8 bits where it computes in them.
void BertSession::norm(const NormLayer& layer, TensorView x, TensorView y, const DenseLayer* reader) {
  ops::QuantisedCopy copy;
  if (quantised() && reader != nullptr) copy = {short_x_.view(), reader->input_scale};
  ops::inference_layer_norm(context_, x, layer.parameters(), y, copy);
}

}  // namespace podium
