#include "worker/tasks/language/language_task.h"

#include <algorithm>
#include <cmath>

#include "worker/nn/pretraining_head.h"
#include "worker/tasks/held_out_files.h"

namespace podium {
namespace {

enum Total : std::size_t { kPredictedTokens, kUnigramLoss, kTotals };

}  // namespace

LanguageText::LanguageText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : tokenizer(BpeVocabulary::load(data_folder / spec.data.tokenizer.bpe_vocab,
                                    data_folder / spec.data.tokenizer.bpe_merges)),
      training(language_files(spec.data.train, data_folder), tokenizer, reading) {
  if (spec.evaluate.every <= 0) return;
  const auto files = language_files({spec.evaluate.data}, data_folder);
  warn_of_held_out_training(files, language_files(spec.data.train, data_folder), reading);
  held_out.emplace(files, tokenizer, reading);
  unigram.emplace(training.frequencies());
}

LanguageTask::LanguageTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                           std::shared_ptr<const LanguageText> text, DataRank place)
    : batch_(training.batch),
      sequence_length_(training.sequence_length),
      text_(std::move(text)),
      dataset_(text_->training, sequence_length_, training.seed),
      held_out_(make_held_out(evaluate, place)),
      batches_(batch_.global, place,
               [this](const SampleRange& samples) { return make_batch(dataset_, samples); }) {}

TaskBatch LanguageTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) const {
  if (!text_->held_out) return {Sums(kTotals, 0.0), {}};
  const LanguageDataset dataset(*text_->held_out, sequence_length_, kHeldOutSeed);
  const std::int64_t count = std::min(evaluate.sequences, dataset.epoch_size());
  TaskBatch batch = make_batch(dataset, share_of_held_out(count, place));
  for (const MicroBatch& micro : batch.micro_batches)
    batch.totals[kUnigramLoss] += text_->unigram->total_loss(micro.targets[kLanguageTerm].labels);
  return batch;
}

TaskBatch LanguageTask::make_batch(const LanguageDataset& dataset, SampleRange samples) const {
  auto& [begin, end, first_sample] = samples;
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
  batch.input_ids.assign(static_cast<std::size_t>(end - begin) * columns,
                         text_->tokenizer.vocabulary().end_of_text());
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
  return {text->tokenizer.size(), text->training.identity(), pretraining_head(spec.model.family),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<LanguageTask>(phase, evaluate, text, DataRank{data_rank, data_size});
          }};
}

}  // namespace podium
