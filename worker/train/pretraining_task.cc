#include "worker/train/pretraining_task.h"

#include <algorithm>

#include "worker/train/failure.h"

namespace podium {
namespace {

// Held-out samples are the same for every job, whatever its seed.
constexpr std::uint64_t kHeldOutSeed = 0;

constexpr std::size_t kStepsAhead = 4;

enum Denominator : std::size_t { kMaskedTokens, kSequences, kDenominators };
enum Loss : std::size_t { kMaskedLoss, kNextLoss, kLosses };
enum Evaluation : std::size_t {
  kEvalMaskedTokens,
  kEvalMaskedLoss,
  kEvalMaskedCorrect,
  kEvalUnigramLoss,
  kEvalSequences,
  kEvalNextCorrect,
  kEvaluations
};

double mean(double sum, double count) { return sum / std::max(count, 1.0); }

std::unique_ptr<BertForPretraining> make_model(const JobSpec& spec, const PretrainingText& text,
                                               Context& context) {
  ModelSpec model = spec.model;
  model.vocab = model_vocabulary(model, text.tokenizer.vocabulary());
  try {
    auto made = std::make_unique<BertForPretraining>(context, model, spec.training.sequence_length,
                                                     spec.training.precision);
    made->parameters().initialise(spec.training.seed, model.initializer_range);
    return made;
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, error.what());
  }
}

}  // namespace

PretrainingTask::PretrainingTask(const JobSpec& spec, const PretrainingText& text, Context& context, int rank,
                                 int world_size)
    : training_(spec.training),
      text_(text),
      local_sequences_(training_.batch.global / world_size),
      first_sequence_(local_sequences_ * rank),
      model_(make_model(spec, text, context)),
      dataset_(text.training, text.tokenizer.vocabulary(), pretraining_options(training_, training_.seed)),
      unigram_(text.training.frequencies()) {
  if (text.held_out) make_held_out(spec.evaluate, rank, world_size);
}

void PretrainingTask::make_held_out(const EvaluateSpec& evaluate, int rank, int world_size) {
  PretrainingDataset dataset(*text_.held_out, text_.tokenizer.vocabulary(),
                             pretraining_options(training_, kHeldOutSeed));
  const std::int64_t count = std::min(evaluate.sequences, dataset.first_epoch_size());
  held_out_ = make_batches(dataset, count * rank / world_size, count * (rank + 1) / world_size);
}

std::vector<BertBatch> PretrainingTask::make_batches(PretrainingDataset& dataset, std::int64_t begin,
                                                     std::int64_t end) const {
  std::vector<BertBatch> batches;
  while (begin < end) {
    std::vector<PretrainingSample> samples;
    for (const std::int64_t stop = std::min(end, begin + training_.batch.micro); begin < stop; ++begin)
      samples.push_back(dataset.sample(begin));
    batches.push_back(
        collate(samples, training_.sequence_length, text_.tokenizer.vocabulary().special().pad));
  }
  return batches;
}

PretrainingTask::Step PretrainingTask::make_step(std::int64_t number) {
  const std::int64_t begin = (number - 1) * training_.batch.global + first_sequence_;
  return {number, make_batches(dataset_, begin, begin + local_sequences_)};
}

void PretrainingTask::start(std::int64_t first_step) {
  prefetcher_.reset();
  prefetcher_ = std::make_unique<Prefetcher<Step>>(
      [this, next = first_step]() mutable { return make_step(next++); }, kStepsAhead);
}

Sums PretrainingTask::begin_step() {
  step_ = prefetcher_->next();
  Sums denominators(kDenominators, 0.0);
  for (const BertBatch& batch : step_.batches) {
    denominators[kMaskedTokens] += static_cast<double>(batch.masked_labels.size());
    denominators[kSequences] += batch.sequences;
  }
  return denominators;
}

Sums PretrainingTask::forward_backward(const Sums& denominators, const GradientsReady& ready) {
  const auto masked_scale = static_cast<float>(mean(1.0, denominators[kMaskedTokens]));
  const auto next_scale = static_cast<float>(mean(1.0, denominators[kSequences]));
  Sums losses(kLosses, 0.0);
  DropoutKey key{training_.seed, step_.number, first_sequence_};
  for (const BertBatch& batch : step_.batches) {
    const bool last = &batch == &step_.batches.back();
    const BertResult result =
        model_->forward_backward(batch, masked_scale, next_scale, key, last ? ready : GradientsReady());
    losses[kMaskedLoss] += result.mlm_loss_sum;
    losses[kNextLoss] += result.nsp_loss_sum;
    key.sample_base += batch.sequences;
  }
  return losses;
}

Metrics PretrainingTask::training_metrics(const Sums& denominators, const Sums& losses) const {
  const double masked = mean(losses[kMaskedLoss], denominators[kMaskedTokens]);
  const double next = mean(losses[kNextLoss], denominators[kSequences]);
  return {{"train/loss", masked + next}, {"train/mlm_loss", masked}, {"train/nsp_loss", next}};
}

Sums PretrainingTask::evaluate() {
  Sums sums(kEvaluations, 0.0);
  for (const BertBatch& batch : held_out_) {
    const BertResult result = model_->evaluate(batch);
    sums[kEvalMaskedTokens] += static_cast<double>(result.mlm_count);
    sums[kEvalMaskedLoss] += result.mlm_loss_sum;
    sums[kEvalMaskedCorrect] += static_cast<double>(result.mlm_correct);
    sums[kEvalUnigramLoss] += unigram_.total_loss(batch.masked_labels);
    sums[kEvalSequences] += static_cast<double>(result.nsp_count);
    sums[kEvalNextCorrect] += static_cast<double>(result.nsp_correct);
  }
  return sums;
}

Metrics PretrainingTask::evaluation_metrics(const Sums& sums) const {
  const double masked = mean(sums[kEvalMaskedLoss], sums[kEvalMaskedTokens]);
  const double unigram = mean(sums[kEvalUnigramLoss], sums[kEvalMaskedTokens]);
  return {{"eval/mlm_loss", masked},
          {"eval/mlm_accuracy", mean(sums[kEvalMaskedCorrect], sums[kEvalMaskedTokens])},
          {"eval/nsp_accuracy", mean(sums[kEvalNextCorrect], sums[kEvalSequences])},
          {"eval/unigram_loss", unigram},
          {"eval/gain_over_unigram", unigram - masked}};
}

}  // namespace podium
