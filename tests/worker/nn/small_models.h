// A model of each family small enough for tests, batches for them, and what a step of them comes to.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"
#include "worker/nn/activation_ranges.h"
#include "worker/nn/layer_products.h"
#include "worker/nn/model.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tensor/random.h"

namespace podium::test {

inline constexpr int kLength = 40;
inline constexpr LossScales kScales{0.1F, 0.5F, 0.2F, 0.3F};
inline constexpr DropoutKey kKey{.seed = 3, .step = 17};

inline ModelSpec small_spec(ModelFamily family, double dropout = 0.0) {
  ModelSpec spec;
  spec.family = family;
  spec.layers = 2;
  spec.hidden = 64;
  spec.heads = 4;
  if (family == ModelFamily::llama) spec.key_value_heads = 2;
  spec.intermediate = 128;
  spec.vocab = 200;
  spec.max_positions = kLength;
  spec.dropout = dropout;
  spec.attention_dropout = dropout;
  spec.initializer_range = 0.1;  // larger than usual: every part of the model then matters to the loss
  return spec;
}

// Sequences of 3/4 to all of `length`; of BERT's every fifth position is masked, of GPT's all but the last
// are predicted.
inline MicroBatch random_batch(const ModelSpec& spec, int sequences, std::uint64_t seed,
                               int length = kLength) {
  Random random(seed, 0);
  const auto draw = [&](int bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(bound)));
  };
  const bool bert = spec.family == ModelFamily::bert;
  MicroBatch batch{.sequences = sequences, .length = length};
  Targets& tokens = batch.targets[kLanguageTerm];
  std::vector<std::int32_t> random_next;
  for (int s = 0; s < sequences; ++s) {
    const std::int32_t valid = length - draw(length / 4 + 1);
    batch.valid_lengths.push_back(valid);
    if (bert) random_next.push_back(draw(2));
    for (int t = 0; t < length; ++t) {
      batch.input_ids.push_back(t < valid ? draw(spec.vocab) : 0);
      if (bert) batch.token_types.push_back(t > length / 2 ? 1 : 0);
      if (bert ? t % 5 != 2 || t >= valid : t >= valid - 1) continue;
      tokens.positions.push_back(s * length + t);
      tokens.labels.push_back(draw(spec.vocab));
    }
  }
  batch.targets[kNextSentenceTerm] = sequence_targets(std::move(random_next), length);
  return batch;
}

// Biases and norms away from the zeros and ones they start with, so that errors in them show; the same values
// on every layout, for none of them is a share of a longer one but where `begin` says so.
inline void randomise(ParameterStore& parameters, std::uint64_t seed) {
  parameters.initialise(seed, 0.1);
  for (const Parameter& p : parameters.list()) {
    if (p.decay) continue;
    Random random(seed, std::hash<std::string>()(p.name));
    for (std::int64_t skipped = 0; skipped < p.slice.begin; ++skipped) random.normal();
    std::vector<float> values = parameters.memory().downloaded<float>(parameters.weights(p));
    for (float& value : values) value += static_cast<float>(0.1 * random.normal());
    parameters.memory().upload<float>(parameters.weights(p), values);
  }
  parameters.weights_changed();
}

// Some inputs of small models reach farther.
inline void set_ranges(Model& model, const ModelSpec& spec) {
  if (ActivationRanges* const ranges = model.ranges())
    ranges->set(std::vector<float>(static_cast<std::size_t>(product_count(spec)), 2.0F));
}

// A model alone in its process.
struct LoneModel {
  LoneModel(const ModelSpec& spec, const ModelOptions& options, Context with = {.threads = 2})
      : context(std::move(with)),
        groups(make_groups(world, {})),
        model(make_model(context, spec, options, groups)) {
    randomise(model->parameters(), 7);
  }

  Context context;
  SingleCommunicator world;
  ParallelGroups groups;
  std::unique_ptr<Model> model;
};

inline LossSums forward(Model& model, const Pass& pass, int slot = 0) {
  ConstTensorView x;
  for (int chunk = 0; chunk < model.chunks(); ++chunk)
    x = model.forward(chunk, slot * model.chunks() + chunk, pass, x);
  return model.take_losses();
}

inline void backward(Model& model, const Pass& pass, int slot = 0, const GradientsReady& ready = nullptr) {
  ConstTensorView d;
  for (int chunk = model.chunks(); chunk-- > 0;)
    d = model.backward(chunk, slot * model.chunks() + chunk, pass, d, ready);
}

using Gradients = std::map<std::string, std::vector<float>>;

inline Gradients gradients_of(Model& model) {
  Gradients all;
  ParameterStore& store = model.parameters();
  for (const Parameter& p : store.list()) all[p.name] = store.memory().downloaded<float>(store.gradients(p));
  return all;
}

struct Outcome {
  LossSums losses;
  Gradients gradients;
};

// Forward and backward over `batches` in turn, of a fresh model.
inline Outcome outcome_of(const ModelSpec& spec, const ModelOptions& options,
                          const std::vector<MicroBatch>& batches, const DropoutKey& key = kKey,
                          Context with = {.threads = 2}) {
  LoneModel lone(spec, options, std::move(with));
  set_ranges(*lone.model, spec);
  Outcome outcome;
  for (const MicroBatch& batch : batches) {
    const Pass pass{batch, kScales, key, true};
    outcome.losses += forward(*lone.model, pass);
    backward(*lone.model, pass);
  }
  outcome.gradients = gradients_of(*lone.model);
  return outcome;
}

inline double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  return std::sqrt(squares);
}

inline double norm(const Gradients& gradients) {
  double squares = 0;
  for (const auto& [name, values] : gradients) squares += norm(values) * norm(values);
  return std::sqrt(squares);
}

inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference(a.size());
  std::ranges::transform(a, b, difference.begin(), std::minus<>());
  return norm(difference);
}

// The largest error of any one parameter's gradient, relative to its own norm or, where that vanishes (a
// key's bias has no gradient in exact arithmetic, only rounding), to the whole.
inline double worst_error(const Gradients& found, const Gradients& expected) {
  const double whole = norm(expected);
  double worst = found.size() == expected.size() ? 0 : INFINITY;
  for (const auto& [name, values] : expected) {
    const double own = norm(values);
    worst = std::max(worst, distance(found.at(name), values) / (own < 1e-4 * whole ? whole : own));
  }
  return worst;
}

}  // namespace podium::test
