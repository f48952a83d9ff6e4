#include "worker/nn/bert.h"

#include <stdexcept>

#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

MicroBatch micro_batch(const BertBatch& batch, std::int64_t first_sample) {
  return {.sequences = batch.sequences,
          .length = batch.length,
          .first_sample = first_sample,
          .input_ids = batch.input_ids,
          .token_types = batch.token_types,
          .valid_lengths = batch.valid_lengths,
          .scored_positions = batch.masked_positions,
          .labels = batch.masked_labels,
          .next_sentence_labels = batch.next_sentence_labels};
}

BertResult result_of(const LossSums& sums) {
  return {sums.language,         sums.next_sentence,       sums.language_count,
          sums.language_correct, sums.next_sentence_count, sums.next_sentence_correct};
}

}  // namespace

class BertForPretraining::Impl {
 public:
  Impl(Context& context, const ModelSpec& spec, int sequence_length, Precision precision)
      : length(sequence_length),
        groups(make_groups(alone, {})),
        model(make_model(context, spec, {.precision = precision}, groups)) {}

  const int length;
  SingleCommunicator alone;
  ParallelGroups groups;
  std::unique_ptr<Model> model;
};

BertForPretraining::BertForPretraining(Context& context, const ModelSpec& spec, int sequence_length,
                                       Precision precision) {
  if (sequence_length <= 0 || sequence_length > spec.max_positions)
    throw std::invalid_argument("BERT: sequence length " + std::to_string(sequence_length) +
                                " must lie within max_positions " + std::to_string(spec.max_positions));
  impl_ = std::make_unique<Impl>(context, spec, sequence_length, precision);
}

BertForPretraining::~BertForPretraining() = default;

ParameterStore& BertForPretraining::parameters() { return impl_->model->parameters(); }

BertResult BertForPretraining::forward_backward(const BertBatch& batch, float mlm_scale, float nsp_scale,
                                                const DropoutKey& key, const GradientsReady& ready) {
  const MicroBatch micro = micro_batch(batch, key.sample_base);
  const Pass pass{micro, {mlm_scale, nsp_scale}, key, true};
  impl_->model->forward(0, 0, pass, {});
  impl_->model->backward(0, 0, pass, {}, ready);
  return result_of(impl_->model->losses(0));
}

BertResult BertForPretraining::evaluate(const BertBatch& batch) {
  const MicroBatch micro = micro_batch(batch, 0);
  impl_->model->forward(0, 0, {micro, {}, {}, false}, {});
  return result_of(impl_->model->losses(0));
}

double BertForPretraining::training_flops(int sequences, std::int64_t masked_positions) const {
  MicroBatch batch{.sequences = sequences, .length = impl_->length};
  batch.scored_positions.resize(static_cast<std::size_t>(masked_positions));
  batch.next_sentence_labels.resize(static_cast<std::size_t>(sequences));
  return impl_->model->training_flops(batch);
}

}  // namespace podium
