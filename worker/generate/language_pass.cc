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
std::span<const std::int32_t> first_integers(const Tensor& tensor, std::int64_t count) {
  return tensor.view().values<std::int32_t>().first(static_cast<std::size_t>(count));
}

}  // namespace

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

Tensor LanguagePass::allocate(DType type, std::int64_t rows, std::int64_t columns) const {
  return {type, Shape{rows, columns}, context_.memory.device};
}

void LanguagePass::make_room(std::int64_t rows, std::int64_t predictions) {
  if (rows <= room_ && predictions <= predictions_room_) return;
  recordings_.clear();
  room_ = std::max(rows, room_);
  predictions_room_ = std::max(predictions, predictions_room_);
  const ModelSpec& spec = weights_.spec;
  const std::int64_t size = spec.hidden / spec.heads;
  const bool gated = traits_of(spec.family).gated;
  for (Tensor* const tensor : {&ids_, &slots_, &positions_}) *tensor = allocate(DType::i32, room_, 1);
  for (Tensor* const tensor : {&x_, &normal_, &heads_}) *tensor = allocate(weights_.type, room_, spec.hidden);
  qkv_ = allocate(weights_.type, room_, (spec.heads + 2 * spec.key_heads()) * size);
  expanded_ = allocate(weights_.type, gated ? room_ : 0, 2 * spec.intermediate);
  inner_ = allocate(weights_.type, room_, spec.intermediate);
  statistics_ = Tensor(DType::f32, Shape{room_}, context_.memory.device);
  predicting_ = allocate(DType::i32, predictions_room_, 1);
  picked_ = allocate(weights_.type, predictions_room_, spec.hidden);
  logits_ = allocate(DType::f32, predictions_room_, spec.vocab);
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
  const auto upload = [&](Tensor& to, const std::vector<std::int32_t>& from) {
    context_.memory.upload(to.view().address, from.data(), from.size() * sizeof(std::int32_t));
  };
  upload(ids_, rows.ids);
  upload(slots_, rows.slots);
  upload(positions_, rows.positions);
  upload(predicting_, rows.predicting);
}

std::vector<float> LanguagePass::run(const NewRows& rows) {
  const std::int64_t count = std::ssize(rows.ids), predictions = std::ssize(rows.predicting);
  PODIUM_CHECK(count > 0 && predictions > 0, "a pass has rows, and predicts");
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
  return downloaded(context_, first_rows_of(logits_, predictions));
}

void LanguagePass::compute(std::int64_t rows, std::int64_t predictions) {
  const TensorView x = first_rows_of(x_, rows);
  ops::EmbeddingTables tables{.word = weights_.word.view()};
  if (!traits_of(weights_.spec.family).rotary) tables.position = std::as_const(weights_.position).view();
  ops::embedding_forward(context_,
                         {.ids = first_integers(ids_, rows), .positions = first_integers(positions_, rows)},
                         tables, x);
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) run_layer(weights_.layers[i], cached_[i], rows);
  const TensorView picked = first_rows_of(picked_, predictions);
  ops::gather_rows(context_, x, first_integers(predicting_, predictions), picked);
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
                        .slots = first_integers(slots_, rows),
                        .positions = first_integers(positions_, rows)};
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
