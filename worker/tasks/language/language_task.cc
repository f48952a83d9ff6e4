#include "worker/tasks/language/language_task.h"

#include <algorithm>
#include <cmath>

#include "worker/data/data_files.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/held_out_files.h"
#include "worker/tasks/training_files.h"

namespace podium {
namespace {

enum Total : std::size_t { kPredictedTokens, kUnigramLoss, kTotals };

}  // namespace

LanguageText::LanguageText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : tokenizer(BpeVocabulary::load(data_folder / spec.data.tokenizer.bpe_vocab,
                                    data_folder / spec.data.tokenizer.bpe_merges)) {
  const TrainingFiles files = training_files(spec.data, data_folder);
  weights = files.weights;
  for (const auto& set : files.sets) training.emplace_back(set, tokenizer, reading);
  if (spec.evaluate.every <= 0) return;
  const auto held_out_files = data_files({spec.evaluate.data}, data_folder);
  warn_of_held_out_training(held_out_files, files.all(), reading);
  held_out.emplace(held_out_files, tokenizer, reading);
  unigram.emplace(frequencies_of(training));
}

LanguageTask::LanguageTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                           std::shared_ptr<const LanguageText> text, DataRank place)
    : batch_(training.batch),
      sequence_length_(training.sequence_length),
      text_(std::move(text)),
      blend_(text_->weights),
      held_out_(make_held_out(evaluate, place)),
      batches_(batch_.global, place, [this](const SampleRange& samples) {
        const Draw draw = [this](std::int64_t index) {
          const Blend::Place found = blend_[index];
          return datasets_[found.set].sample(found.sample);
        };
        return make_batch(draw, samples);
      }) {
  for (const TokenStream& stream : text_->training)
    datasets_.emplace_back(stream, sequence_length_, training.seed);
}

TaskBatch LanguageTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) const {
  if (!text_->held_out) return {Sums(kTotals, 0.0), {}};
  const LanguageDataset dataset(*text_->held_out, sequence_length_, kHeldOutSeed);
  const std::int64_t count = std::min(evaluate.sequences, dataset.epoch_size());
  const Draw draw = [&](std::int64_t index) { return dataset.sample(index); };
  TaskBatch batch = make_batch(draw, share_of_held_out(count, place));
  for (const MicroBatch& micro : batch.micro_batches)
    batch.totals[kUnigramLoss] += text_->unigram->total_loss(micro.targets[kLanguageTerm].labels);
  return batch;
}

TaskBatch LanguageTask::make_batch(const Draw& draw, SampleRange samples) const {
  auto& [begin, end, first_sample] = samples;
  TaskBatch batch{Sums(kTotals, 0.0), {}};
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + batch_.micro);
    MicroBatch micro = collate(draw, begin, stop);
    micro.first_sample = first_sample;
    batch.totals[kPredictedTokens] += static_cast<double>(micro.targets[kLanguageTerm].labels.size());
    batch.micro_batches.push_back(std::move(micro));
    first_sample += stop - begin;
    begin = stop;
  }
  return batch;
}

MicroBatch LanguageTask::collate(const Draw& draw, std::int64_t begin, std::int64_t end) const {
  MicroBatch batch;
  Targets& tokens = batch.targets[kLanguageTerm];
  batch.sequences = static_cast<int>(end - begin);
  batch.length = sequence_length_;
  const auto columns = static_cast<std::size_t>(sequence_length_);
  batch.input_ids.assign(static_cast<std::size_t>(end - begin) * columns,
                         text_->tokenizer.vocabulary().end_of_text());
  for (std::int64_t i = begin; i < end; ++i) {
    const std::vector<std::int32_t> ids = draw(i);
    const auto valid = static_cast<std::int32_t>(ids.size() - 1);
    const auto row = static_cast<std::int32_t>(i - begin) * sequence_length_;
    std::copy_n(ids.begin(), valid, batch.input_ids.begin() + row);
    tokens.labels.insert(tokens.labels.end(), ids.begin() + 1, ids.end());
    for (std::int32_t column = 0; column < valid; ++column) tokens.positions.push_back(row + column);
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

Findings LanguageTask::findings(const Evaluation& held_out) const {
  const LossSum& predicted = held_out.losses[kLanguageTerm];
  const double tokens = held_out.totals[kPredictedTokens];
  const double loss = mean(predicted.loss, tokens);
  const double unigram = mean(held_out.totals[kUnigramLoss], tokens);
  return {{{"eval/loss", loss},
           {"eval/perplexity", std::exp(loss)},
           {"eval/accuracy", mean(static_cast<double>(predicted.correct), tokens)},
           {"eval/unigram_loss", unigram},
           {"eval/gain_over_unigram", unigram - loss}},
          {}};
}

TaskSource language_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size) {
  const auto text = std::make_shared<const LanguageText>(spec, data_folder, reading);
  return {text->tokenizer.size(),
          identity_of_sets(text->training, text->weights),
          pretraining_head(spec.model.family),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<LanguageTask>(phase, evaluate, text, DataRank{data_rank, data_size});
          },
          {},
          [text](std::int64_t count) { return identity_of(text->tokenizer.vocabulary(), count); }};
}

}  // namespace podium
