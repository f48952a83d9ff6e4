#include "worker/infer/random_model.h"

#include "worker/infer/calibration.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

constexpr int kVocabulary = 30528;
constexpr int kPositions = 512;

}  // namespace

ModelSpec bert_shape(int layers, int hidden, int heads) {
  return {.layers = layers,
          .hidden = hidden,
          .heads = heads,
          .intermediate = 4 * hidden,
          .vocab = kVocabulary,
          .max_positions = kPositions};
}

InferenceBatch random_batch(const ModelSpec& spec, const SessionShape& shape) {
  InferenceBatch batch;
  Random random(1, 0);
  for (int i = 0; i < shape.sequences * shape.length; ++i)
    batch.ids.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(spec.vocab))));
  return batch;
}

SourceModel quantised_by_random_text(Context& context, const SourceModel& model,
                                     const InferenceOptions& options, int length) {
  BertWeights weights = make_bert_weights(context, model, {.sparse = options.sparse});
  const SessionShape shape{.sequences = 1, .length = length};
  BertSession session(context, weights, shape);
  session.set_inputs(random_batch(model.spec, shape));
  return quantise_model(model, observe_inputs(context, session), {options.precision, options.sparse});
}

}  // namespace podium
