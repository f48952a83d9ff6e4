// A small language model, in training's form and in generation's.
#pragma once

#include <cmath>
#include <memory>

#include "tests/worker/infer/small_source.h"
#include "worker/generate/generation_session.h"

namespace podium::test {

inline ModelSpec small_language(ModelFamily family, bool tied = false) {
  ModelSpec spec = small_spec(family);
  spec.vocab = 57;
  spec.tie_embeddings = tied;
  return spec;
}

struct Language {
  explicit Language(const ModelSpec& spec_in)
      : spec(spec_in), lone(spec, {}), source(source_of(spec, lone.model->parameters())) {}

  // The training model's log-probabilities of the token after row `row` of `ids`, by the loss of every label.
  std::vector<double> trained(const std::vector<std::int32_t>& ids, std::size_t row) {
    std::vector<double> probabilities;
    for (std::int32_t label = 0; label < spec.vocab; ++label) {
      MicroBatch batch{.sequences = 1, .length = static_cast<int>(ids.size()), .input_ids = ids};
      batch.valid_lengths = {batch.length};
      batch.targets[kLanguageTerm] = {{static_cast<std::int32_t>(row)}, {label}};
      probabilities.push_back(-forward(*lone.model, {batch, {}, {}, false})[kLanguageTerm].loss);
    }
    return probabilities;
  }

  ModelSpec spec;
  LoneModel lone;
  SourceModel source;
};

inline std::vector<std::int32_t> random_ids(const ModelSpec& spec, int count, std::uint64_t stream) {
  Random random(21, stream);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i)
    ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(spec.vocab))));
  return ids;
}

inline std::vector<double> log_softmax(std::span<const float> logits) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  std::vector<double> result;
  for (const float logit : logits) result.push_back(static_cast<double>(logit) - std::log(sum));
  return result;
}

}  // namespace podium::test
