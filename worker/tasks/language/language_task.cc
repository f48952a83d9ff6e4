#include "worker/tasks/language/language_task.h"

#include <algorithm>
#include <cmath>

#include "worker/nn/pretraining_head.h"
#include "worker/tasks/held_out_files.h"

namespace podium {
namespace {

// Held-out samples are the same for every job, whatever its seed.
constexpr std::uint64_t kHeldOutSeed = 0;

constexpr std::size_t kStepsAhead = 4;

enum Total : std::size_t { kPredictedTokens, kUnigramLoss, kTotals };

double mean(double sum, double count) { return sum / std::max(count, 1.0); }

}  // namespace

LanguageText::LanguageText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : vocabulary(BpeVocabulary::load(data_folder / spec.data.tokenizer.bpe_vocab,
                                     data_folder / spec.data.tokenizer.bpe_merges)),
      training(language_files(spec.data.train, data_folder), vocabulary, reading) {
  if (spec.evaluate.every <= 0) return;
  const auto files = language_files({spec.evaluate.data}, data_folder);
  warn_of_held_out_training(files, language_files(spec.data.train, data_folder), reading);
  held_out.emplace(files, vocabulary, reading);
  unigram.emplace(training.frequencies());
}

LanguageTask::LanguageTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                           std::shared_ptr<const LanguageText> text, int data_rank, int data_size)
    : batch_(training.batch),
      sequence_length_(training.sequence_length),
      text_(std::move(text)),
      local_sequences_(batch_.global / data_size),
      first_sequence_(local_sequences_ * data_rank),
      dataset_(text_->training, sequence_length_, training.seed),
      held_out_(make_held_out(evaluate, data_rank, data_size)) {}

TaskBatch LanguageTask::make_held_out(const EvaluateSpec& evaluate, int data_rank, int data_size) const {
  if (!text_->held_out) return {Sums(kTotals, 0.0), {}};
  const LanguageDataset dataset(*text_->held_out, sequence_length_, kHeldOutSeed);
  const std::int64_t count = std::min(evaluate.sequences, dataset.epoch_size());
  const std::int64_t begin = count * data_rank / data_size;
  TaskBatch batch = make_batch(dataset, begin, count * (data_rank + 1) / data_size, begin);
  for (const MicroBatch& micro : batch.micro_batches)
    batch.totals[kUnigramLoss] += text_->unigram->total_loss(micro.targets[kLanguageTerm].labels);
  return batch;
}

TaskBatch LanguageTask::make_batch(const LanguageDataset& dataset, std::int64_t begin, std::int64_t end,
                                   std::int64_t first_sample) const {
  TaskBatch batch{Sums(kTotals, 0.0), {}};
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + batch_.micro);
    MicroBatch micro = collate(dataset, begin, stop);
    micro.first_sample = first_sample;
    batch.totals[kPredictedTokens] += static_cast<double>(micro.targets[kLanguageTerm].labels.size());
    batch.micro_batches.push_back(std::move(micro));
    first_sample += stop - begin;
    begin = stop;
  }
  return batch;
}

MicroBatch LanguageTask::collate(const LanguageDataset& dataset, std::int64_t begin, std::int64_t end) const {
  MicroBatch batch;
  auto& [positions, labels] = batch.targets[kLanguageTerm];
  batch.sequences = static_cast<int>(end - begin);
  batch.length = sequence_length_;
  const auto columns = static_cast<std::size_t>(sequence_length_);
  batch.input_ids.assign(static_cast<std::size_t>(end - begin) * columns, text_->vocabulary.end_of_text());
  for (std::int64_t i = begin; i < end; ++i) {
    const std::vector<std::int32_t> ids = dataset.sample(i);
    const auto valid = static_cast<std::int32_t>(ids.size() - 1);
    const auto row = static_cast<std::int32_t>(i - begin) * sequence_length_;
    std::copy_n(ids.begin(), valid, batch.input_ids.begin() + row);
    labels.insert(labels.end(), ids.begin() + 1, ids.end());
    for (std::int32_t column = 0; column < valid; ++column) positions.push_back(row + column);
    batch.valid_lengths.push_back(valid);
  }
  return batch;
}

void LanguageTask::start(std::int64_t first_batch) {
  prefetcher_.reset();
  prefetcher_ = std::make_unique<Prefetcher<TaskBatch>>(
      [this, batch = first_batch]() mutable {
        const std::int64_t begin = (batch++ - 1) * batch_.global + first_sequence_;
        return make_batch(dataset_, begin, begin + local_sequences_, first_sequence_);
      },
      kStepsAhead);
}

LossScales LanguageTask::scales(const Sums& totals) const {
  return {static_cast<float>(mean(1.0, totals[kPredictedTokens]))};
}

Metrics LanguageTask::training_metrics(const Sums& totals, const LossSums& losses) const {
  return {{"train/loss", mean(losses[kLanguageTerm].loss, totals[kPredictedTokens])}};
}

Metrics LanguageTask::evaluation_metrics(const Evaluation& held_out) const {
  const LossSum& predicted = held_out.losses[kLanguageTerm];
  const double tokens = held_out.totals[kPredictedTokens];
  const double loss = mean(predicted.loss, tokens);
  const double unigram = mean(held_out.totals[kUnigramLoss], tokens);
  return {{"eval/loss", loss},
          {"eval/perplexity", std::exp(loss)},
          {"eval/accuracy", mean(static_cast<double>(predicted.correct), tokens)},
          {"eval/unigram_loss", unigram},
          {"eval/gain_over_unigram", unigram - loss}};
}

TaskSource language_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size) {
  const auto text = std::make_shared<const LanguageText>(spec, data_folder, reading);
  return {text->vocabulary.size(), text->training.identity(), pretraining_head(ModelFamily::gpt),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<LanguageTask>(phase, evaluate, text, data_rank, data_size);
          }};
}

}  // namespace podium
