#include "worker/tasks/classify/classify_task.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "worker/data/shuffle.h"
#include "worker/input/text_files.h"
#include "worker/tasks/classify/class_scores.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tasks/held_out_files.h"

namespace podium {
namespace {

// The stream of a seed that orders sentences; the low bits number the epoch.
constexpr std::uint64_t kSentenceStream = std::uint64_t{5} << 60;

constexpr std::int64_t kSpecialTokens = 2;  // [CLS] and [SEP]

enum Total : std::size_t { kSentences, kOfMajority, kTotals };

std::int32_t most_frequent_class(const LabelledText& text) {
  std::vector<std::int64_t> counts(text.classes().size());
  for (std::int64_t i = 0; i < text.size(); ++i) ++counts[static_cast<std::size_t>(text.label(i))];
  return static_cast<std::int32_t>(std::ranges::max_element(counts) - counts.begin());
}

void warn_of_cuts(const LabelledText& text, const std::string& key, int length, Reading& reading) {
  std::int64_t cut = 0;
  for (std::int64_t i = 0; i < text.size(); ++i) cut += text.length(i) + kSpecialTokens > length;
  if (cut > 0)
    reading.warn(
        fmt::format("{}: {} of {} sentences are longer than training.sequence_length, {} with [CLS] "
                    "and [SEP], and lose their ends",
                    key, cut, text.size(), length));
}

}  // namespace

ClassifyText::ClassifyText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : tokenizer(Vocabulary::load(data_folder / spec.data.tokenizer.wordpiece), spec.data.tokenizer.lowercase),
      training(LabelledText::read(expand_globs(spec.data.train, data_folder), tokenizer, reading)) {
  warn_of_cuts(training, "data.train", spec.training.sequence_length, reading);
  if (spec.evaluate.every <= 0) return;
  const auto files = expand_globs({spec.evaluate.data}, data_folder);
  warn_of_held_out_training(files, expand_globs(spec.data.train, data_folder), reading);
  held_out = LabelledText::read(files, tokenizer, reading, training.classes());
  warn_of_cuts(*held_out, "evaluate.data", spec.training.sequence_length, reading);
}

ClassifyTask::ClassifyTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                           std::shared_ptr<const ClassifyText> text, DataRank place)
    : training_(training),
      text_(std::move(text)),
      majority_(most_frequent_class(text_->training)),
      held_out_(make_held_out(evaluate, place)),
      batches_(training_.batch.global, place,
               [this](const SampleRange& samples) { return make_global_batch(samples); }) {}

TaskBatch ClassifyTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) const {
  if (!text_->held_out) return {Sums(kTotals, 0.0), {}};
  const SampleRange share = share_of_held_out(std::min(evaluate.sequences, text_->held_out->size()), place);
  std::vector<std::int64_t> sentences(static_cast<std::size_t>(share.end - share.begin));
  std::iota(sentences.begin(), sentences.end(), share.begin);
  return make_batch(*text_->held_out, sentences, share.first);
}

std::int64_t ClassifyTask::sentence_of(std::int64_t sample) const {
  const std::int64_t size = text_->training.size();
  const auto epoch = static_cast<std::uint64_t>(sample / size);
  return Shuffle(training_.seed, kSentenceStream | epoch, size)[sample % size];
}

TaskBatch ClassifyTask::make_batch(const LabelledText& text, const std::vector<std::int64_t>& sentences,
                                   std::int64_t first_sample) const {
  TaskBatch batch{Sums(kTotals, 0.0), {}};
  const auto most = static_cast<std::size_t>(training_.batch.micro);
  for (std::size_t begin = 0; begin < sentences.size(); begin += most) {
    MicroBatch micro =
        collate(text, std::span(sentences).subspan(begin, std::min(most, sentences.size() - begin)));
    micro.first_sample = first_sample + static_cast<std::int64_t>(begin);
    batch.totals[kSentences] += micro.sequences;
    batch.totals[kOfMajority] +=
        static_cast<double>(std::ranges::count(micro.targets[kClassTerm].labels, majority_));
    batch.micro_batches.push_back(std::move(micro));
  }
  return batch;
}

MicroBatch ClassifyTask::collate(const LabelledText& text, std::span<const std::int64_t> sentences) const {
  const SpecialTokens& special = text_->tokenizer.vocabulary().special();
  MicroBatch batch;
  batch.sequences = static_cast<int>(sentences.size());
  batch.length = training_.sequence_length;
  std::vector<std::int32_t> labels;
  for (const std::int64_t sentence : sentences) {
    const std::size_t begin = batch.input_ids.size();
    batch.input_ids.push_back(special.classify);
    text.append(sentence, batch.length - kSpecialTokens, batch.input_ids);
    batch.input_ids.push_back(special.separator);
    batch.valid_lengths.push_back(static_cast<std::int32_t>(batch.input_ids.size() - begin));
    batch.input_ids.resize(begin + static_cast<std::size_t>(batch.length), special.pad);
    labels.push_back(text.label(sentence));
  }
  batch.token_types.assign(batch.input_ids.size(), 0);
  batch.targets[kClassTerm] = sequence_targets(std::move(labels), batch.length);
  return batch;
}

TaskBatch ClassifyTask::make_global_batch(const SampleRange& samples) const {
  std::vector<std::int64_t> sentences;
  for (std::int64_t i = samples.begin; i < samples.end; ++i) sentences.push_back(sentence_of(i));
  return make_batch(text_->training, sentences, samples.first);
}

LossScales ClassifyTask::scales(const Sums& totals) const {
  return {static_cast<float>(mean(1.0, totals[kSentences]))};
}

Metrics ClassifyTask::training_metrics(const Sums& totals, const LossSums& losses) const {
  return {{"train/loss", mean(losses[kClassTerm].loss, totals[kSentences])}};
}

std::size_t ClassifyTask::score_count() const { return kCountsOfClass * text_->training.classes().size(); }

void ClassifyTask::score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const {
  auto logits = predictions.values.begin();
  for (const std::int32_t label : batch.targets[kClassTerm].labels) {
    const auto end = logits + predictions.columns;
    count_class(scores, label, static_cast<std::int32_t>(std::max_element(logits, end) - logits));
    logits = end;
  }
}

Findings ClassifyTask::findings(const Evaluation& held_out) const {
  const double sentences = held_out.totals[kSentences];
  const LossSum& told = held_out.losses[kClassTerm];
  return {{{"eval/loss", mean(told.loss, sentences)},
           {"eval/accuracy", mean(static_cast<double>(told.correct), sentences)},
           {"eval/f1", f1_of_classes(held_out.scores)},
           {"eval/matthews_correlation", matthews_correlation(held_out.scores)},
           {"eval/majority_accuracy", mean(held_out.totals[kOfMajority], sentences)}},
          {}};
}

TaskSource classify_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size) {
  const auto text = std::make_shared<const ClassifyText>(spec, data_folder, reading);
  return {text->tokenizer.vocabulary().size(), text->training.identity(),
          classify_head(static_cast<int>(text->training.classes().size())),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<ClassifyTask>(phase, evaluate, text, DataRank{data_rank, data_size});
          }};
}

}  // namespace podium
