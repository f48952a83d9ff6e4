// A small BERT, in training's form and in inference's.
#pragma once

#include "tests/worker/nn/small_models.h"
#include "worker/infer/bert_session.h"
#include "worker/nn/pretraining_head.h"

namespace podium::test {

inline SourceModel source_of(const ModelSpec& spec, const ParameterStore& parameters) {
  SourceModel model{.origin = "small", .spec = spec};
  for (const Parameter& p : parameters.list()) {
    std::vector<std::int64_t> shape;
    for (int axis = 0; axis < p.shape.rank(); ++axis) shape.push_back(p.shape[axis]);
    const std::vector<float> values = parameters.memory().downloaded<float>(parameters.weights(p));
    model.tensors[p.name] = {p.name, shape, values};
  }
  return model;
}

inline InferenceBatch inference_batch(const MicroBatch& batch) {
  return {batch.input_ids, batch.token_types, batch.valid_lengths, batch.targets[kLanguageTerm].positions};
}

inline SessionShape shape_of(const MicroBatch& batch) {
  return {batch.sequences, batch.length, static_cast<int>(batch.targets[kLanguageTerm].positions.size()) + 3};
}

}  // namespace podium::test
