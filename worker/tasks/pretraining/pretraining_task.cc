#include "worker/tasks/pretraining/pretraining_task.h"

#include <algorithm>

#include "worker/data/unigram.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/training_files.h"

namespace podium {
namespace {

enum Total : std::size_t { kMaskedTokens, kSequences, kUnigramLoss };  // the last of held-out text only

TaskBatch with_totals(std::vector<MicroBatch> batches) {
  Sums totals(2, 0.0);
  for (const MicroBatch& batch : batches) {
    totals[kMaskedTokens] += static_cast<double>(batch.targets[kLanguageTerm].labels.size());
    totals[kSequences] += batch.sequences;
  }
  return {std::move(totals), std::move(batches)};
}

}  // namespace

PretrainingTask::PretrainingTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                                 std::shared_ptr<const PretrainingText> text, DataRank place)
    : training_(training),
      text_(std::move(text)),
      blend_(text_->weights),
      batches_(training_.batch.global, place,
               [this](const SampleRange& samples) { return make_global_batch(samples); }) {
  for (const Corpus& corpus : text_->training)
    datasets_.emplace_back(corpus, text_->tokenizer.vocabulary(),
                           pretraining_options(training_, training_.seed));
  if (text_->held_out) held_out_ = make_held_out(evaluate, place);
}

TaskBatch PretrainingTask::make_global_batch(const SampleRange& samples) {
  const Draw draw = [this](std::int64_t index) {
    const Blend::Place place = blend_[index];
    return datasets_[place.set].sample(place.sample);
  };
  TaskBatch made = with_totals(make_batches(draw, samples.begin, samples.end));
  std::int64_t first = samples.first;
  for (MicroBatch& batch : made.micro_batches) {
    batch.first_sample = first;
    first += batch.sequences;
  }
  return made;
}

TaskBatch PretrainingTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) const {
  PretrainingDataset dataset(*text_->held_out, text_->tokenizer.vocabulary(),
                             pretraining_options(training_, kHeldOutSeed));
  const std::int64_t count = std::min(evaluate.sequences, dataset.first_epoch_size());
  const SampleRange share = share_of_held_out(count, place);
  const Draw draw = [&](std::int64_t index) { return dataset.sample(index); };
  TaskBatch made = with_totals(make_batches(draw, share.begin, share.end));
  const UnigramModel unigram(frequencies_of(text_->training));
  made.totals.push_back(0.0);
  for (const MicroBatch& batch : made.micro_batches)
    made.totals[kUnigramLoss] += unigram.total_loss(batch.targets[kLanguageTerm].labels);
  return made;
}

std::vector<MicroBatch> PretrainingTask::make_batches(const Draw& draw, std::int64_t begin,
                                                      std::int64_t end) const {
  std::vector<MicroBatch> batches;
  while (begin < end) {
    std::vector<PretrainingSample> samples;
    for (const std::int64_t stop = std::min(end, begin + training_.batch.micro); begin < stop; ++begin)
      samples.push_back(draw(begin));
    batches.push_back(
        collate(samples, training_.sequence_length, text_->tokenizer.vocabulary().special().pad));
  }
  return batches;
}

LossScales PretrainingTask::scales(const Sums& totals) const {
  LossScales scales{};
  scales[kLanguageTerm] = static_cast<float>(mean(1.0, totals[kMaskedTokens]));
  scales[kNextSentenceTerm] = static_cast<float>(mean(1.0, totals[kSequences]));
  return scales;
}

Metrics PretrainingTask::training_metrics(const Sums& totals, const LossSums& losses) const {
  const double masked = mean(losses[kLanguageTerm].loss, totals[kMaskedTokens]);
  const double next = mean(losses[kNextSentenceTerm].loss, totals[kSequences]);
  return {{"train/loss", masked + next}, {"train/mlm_loss", masked}, {"train/nsp_loss", next}};
}

Findings PretrainingTask::findings(const Evaluation& held_out) const {
  const Sums& totals = held_out.totals;
  const LossSums& losses = held_out.losses;
  const double masked = mean(losses[kLanguageTerm].loss, totals[kMaskedTokens]);
  const double unigram = mean(totals[kUnigramLoss], totals[kMaskedTokens]);
  const auto accuracy = [](std::int64_t correct, double count) {
    return mean(static_cast<double>(correct), count);
  };
  return {{{"eval/mlm_loss", masked},
           {"eval/mlm_accuracy", accuracy(losses[kLanguageTerm].correct, totals[kMaskedTokens])},
           {"eval/nsp_accuracy", accuracy(losses[kNextSentenceTerm].correct, totals[kSequences])},
           {"eval/unigram_loss", unigram},
           {"eval/gain_over_unigram", unigram - masked}},
          {}};
}

TaskSource pretraining_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                   Reading& reading, int data_rank, int data_size) {
  const auto text =
      std::make_shared<const PretrainingText>(read_pretraining_text(spec, data_folder, reading));
  return {text->tokenizer.vocabulary().size(),
          identity_of_sets(text->training, text->weights),
          pretraining_head(spec.model.family),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<PretrainingTask>(phase, evaluate, text, DataRank{data_rank, data_size});
          },
          {},
          [text](std::int64_t count) { return identity_of(text->tokenizer.vocabulary(), count); }};
}

}  // namespace podium
