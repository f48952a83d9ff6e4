#include "worker/generate/language_pass.h"

#include <algorithm>

#include "common/model/family.h"
#include "worker/nn/families/family.h"
#include "worker/ops/embedding.h"
#include "worker/ops/inference_layer_norm.h"
#include "worker/ops/rms_norm.h"
#include "worker/ops/rotary_heads.h"
#include "worker/ops/rows.h"
#include "worker/ops/swiglu.h"
#include "worker/tensor/downloaded.h"

namespace podium {
namespace {

TensorView first_rows_of(Tensor& tensor, std::int64_t rows) {
  TensorView view = tensor.view();
  view.shape = view.shape.with(0, rows);
  return view;
}
}  // namespace

std::int64_t cache_bytes(const ModelSpec& spec, DType type, const CacheShape& cache) {
  const std::int64_t columns = std::int64_t{spec.key_heads()} * (spec.hidden / spec.heads);
  return 2 * std::int64_t{spec.layers} * cache.slots * cache.positions * columns *
         static_cast<std::int64_t>(size_of(type));
}

LanguagePass::LanguagePass(Context& context, LanguageWeights& weights, const CacheShape& cache)
    : context_(context), weights_(weights), cache_(cache) {
  const ModelSpec& spec = weights.spec;
  PODIUM_CHECK(cache.slots > 0 && cache.positions > 0 && cache.positions <= spec.max_positions,
               "a cache has between 1 and the model's positions");
  const std::int64_t size = spec.hidden / spec.heads;
  const Shape shape{cache.slots, spec.key_heads(), cache.positions, size};
  for (int i = 0; i < spec.layers; ++i)
    cached_.push_back({Tensor(weights.type, shape, context.memory.device),
                       Tensor(weights.type, shape, context.memory.device)});
  if (traits_of(spec.family).rotary)
    turns_ = place(context, DType::f32, Shape{cache.positions, size},
                   ops::rotary_table(spec.rope_theta, cache.positions, size).data());
}

void LanguagePass::copy_slot(int from, int to, int positions) {
  for (CachedLayer& layer : cached_)
    for (Tensor* const tensor : {&layer.keys, &layer.values}) {
      const TensorView view = tensor->view();
      const std::int64_t heads = view.shape[1];
      const auto head_bytes = view.bytes() / static_cast<std::size_t>(view.shape[0] * heads);
      const auto bytes =
          head_bytes / static_cast<std::size_t>(cache_.positions) * static_cast<std::size_t>(positions);
      const auto place = [&](std::int64_t slot, std::int64_t head) {
        return static_cast<std::byte*>(view.address) +
               static_cast<std::size_t>(slot * heads + head) * head_bytes;
      };
      for (std::int64_t head = 0; head < heads; ++head)
        context_.memory.copy(place(to, head), place(from, head), bytes);
    }
}

Tensor LanguagePass::allocate(DType type, std::int64_t rows, std::int64_t columns) const {
  return {type, Shape{rows, columns}, context_.memory.device};
}

void LanguagePass::make_room(std::int64_t rows, std::int64_t predictions) {
  if (rows <= room_ && predictions <= predictions_room_) return;
  recordings_.clear();
  rows = std::max(rows, room_);
  predictions = std::max(predictions, predictions_room_);
  const ModelSpec& spec = weights_.spec;
  const std::int64_t size = spec.hidden / spec.heads;
  const bool gated = traits_of(spec.family).gated;
  inputs_ = allocate(DType::i32, 3 * rows + predictions, 1);
  for (Tensor* const tensor : {&x_, &normal_, &heads_}) *tensor = allocate(weights_.type, rows, spec.hidden);
  qkv_ = allocate(weights_.type, rows, (spec.heads + 2 * spec.key_heads()) * size);
  expanded_ = allocate(weights_.type, gated ? rows : 0, 2 * spec.intermediate);
  inner_ = allocate(weights_.type, rows, spec.intermediate);
  statistics_ = Tensor(DType::f32, Shape{rows}, context_.memory.device);
  picked_ = allocate(weights_.type, predictions, spec.hidden);
  logits_ = allocate(DType::f32, predictions, spec.vocab);
  room_ = rows;  // where no allocation failed
  predictions_room_ = predictions;
}

void LanguagePass::set_inputs(const NewRows& rows) {
  PODIUM_CHECK(rows.slots.size() == rows.ids.size() && rows.positions.size() == rows.ids.size(),
               "each row has an id, a slot and a position");
  const auto within = [](const std::vector<std::int32_t>& values, std::int64_t bound) {
    return std::ranges::all_of(values, [&](std::int32_t v) { return v >= 0 && v < bound; });
  };
  PODIUM_CHECK(within(rows.ids, weights_.spec.vocab), "ids are of the vocabulary");
  PODIUM_CHECK(within(rows.slots, cache_.slots) && within(rows.positions, cache_.positions),
               "rows stand within the cache");
  PODIUM_CHECK(within(rows.predicting, std::ssize(rows.ids)), "what predicts is a row");
  std::vector<std::int32_t> all(static_cast<std::size_t>(3 * room_ + predictions_room_));  // one upload
  std::int64_t begin = 0;
  for (const auto* part : {&rows.ids, &rows.slots, &rows.positions, &rows.predicting}) {
    std::ranges::copy(*part, all.begin() + begin);
    begin += room_;
  }
  context_.memory.upload(inputs_.view().address, all.data(), all.size() * sizeof(std::int32_t));
}

std::span<const std::int32_t> LanguagePass::inputs(std::int64_t part, std::int64_t count) const {
  return inputs_.view().values<std::int32_t>().subspan(static_cast<std::size_t>(part * room_),
                                                       static_cast<std::size_t>(count));
}

std::vector<float> LanguagePass::run(const NewRows& rows) {
  const std::int64_t count = std::ssize(rows.ids), predictions = std::ssize(rows.predicting);
  PODIUM_CHECK(count > 0, "a pass has rows");
  make_room(count, predictions);
  set_inputs(rows);
  const bool recorded = context_.recordings && !context_.memory.on_host() && context_.profiler == nullptr &&
                        count == predictions;
  if (recorded) {
    Recorded& pass = recordings_[count];
    pass.recording.run(*context_.memory.stream, context_.state ? context_.state->moves : 0, pass.ran,
                       [&] { compute(count, predictions); });
    pass.ran = true;
  } else {
    compute(count, predictions);
  }
  if (predictions == 0) return {};
  return downloaded(context_, first_rows_of(logits_, predictions));
}

void LanguagePass::compute(std::int64_t rows, std::int64_t predictions) {
  const TensorView x = first_rows_of(x_, rows);
  ops::EmbeddingTables tables{.word = weights_.word.view()};
  if (!traits_of(weights_.spec.family).rotary) tables.position = std::as_const(weights_.position).view();
  ops::embedding_forward(context_, {.ids = inputs(kIds, rows), .positions = inputs(kPositions, rows)}, tables,
                         x);
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) run_layer(weights_.layers[i], cached_[i], rows);
  if (predictions == 0) return;
  const TensorView picked = first_rows_of(picked_, predictions);
  ops::gather_rows(context_, x, inputs(kPredicting, predictions), picked);
  norm(weights_.last_norm, picked, picked);
  ops::inference_linear(context_, picked, weights_.decoder.weight, {}, first_rows_of(logits_, predictions));
}

void LanguagePass::run_layer(DecoderLayer& layer, CachedLayer& cached, std::int64_t rows) {
  const ModelSpec& spec = weights_.spec;
  const TensorView x = first_rows_of(x_, rows), normal = first_rows_of(normal_, rows),
                   qkv = first_rows_of(qkv_, rows), heads = first_rows_of(heads_, rows),
                   inner = first_rows_of(inner_, rows);
  ops::CachedRows cache{.heads = spec.heads,
                        .key_value_heads = spec.key_heads(),
                        .head_size = spec.hidden / spec.heads,
                        .slots = inputs(kSlots, rows),
                        .positions = inputs(kPositions, rows)};
  if (traits_of(spec.family).rotary) cache.table = std::as_const(turns_).view();
  norm(layer.first_norm, x, normal);
  ops::inference_linear(context_, normal, layer.query_key_value.weight, {}, qkv);
  ops::cache_rows(context_, cache, qkv, cached.keys.view(), cached.values.view());
  ops::cached_attention(context_, cache, qkv, cached.keys.view(), cached.values.view(), heads);
  ops::inference_linear(context_, heads, layer.attention_output.weight, {.residual = x}, x);
  norm(layer.middle_norm, x, normal);
  if (traits_of(spec.family).gated) {
    const TensorView expanded = first_rows_of(expanded_, rows);
    ops::inference_linear(context_, normal, layer.expand.weight, {}, expanded);
    ops::swiglu_forward(context_, expanded, inner);
  } else {
    const ops::Activation gelu =
        family_of(spec).gelu == ops::GeluKind::tanh ? ops::Activation::gelu_tanh : ops::Activation::gelu;
    ops::inference_linear(context_, normal, layer.expand.weight, {.activation = gelu}, inner);
  }
  ops::inference_linear(context_, inner, layer.contract.weight, {.residual = x}, x);
}

void LanguagePass::norm(const NormLayer& layer, TensorView x, TensorView y) {
  if (family_of(weights_.spec).norm == NormKind::layer)
    return ops::inference_layer_norm(context_, x, layer.parameters(), y);
  const ops::RmsNormParameters parameters{layer.gamma.view(), layer.epsilon};
  TensorView statistics = statistics_.view();
  statistics.shape = Shape{x.shape[0]};
  ops::rms_norm_forward(context_, x, parameters, y, statistics);
}

}  // namespace podium
