#include "worker/tasks/classify/classify_task.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "worker/data/shuffle.h"
#include "worker/input/text_files.h"
#include "worker/tasks/classify/classify_head.h"
#include "worker/tasks/held_out_files.h"
#include "worker/tasks/taught_loss.h"

namespace podium {
namespace {

// The stream of a seed that orders samples; the low bits number the epoch.
constexpr std::uint64_t kSampleStream = std::uint64_t{5} << 60;

void warn_of_cuts(const LabelledText& text, const std::string& key, const TrainingSpec& training,
                  Reading& reading) {
  const bool pairs = training.classify.pair.has_value();
  const std::int64_t special = SentenceTokens{.is_pair = pairs}.special_tokens();
  std::int64_t cut = 0;
  for (std::int64_t i = 0; i < text.size(); ++i) cut += text.length(i) + special > training.sequence_length;
  if (cut > 0)
    reading.warn(
        fmt::format("{}: {} of {} {} are longer than training.sequence_length, {} with [CLS] and [SEP], and "
                    "lose their ends{}",
                    key, cut, text.size(), pairs ? "pairs" : "sentences", training.sequence_length,
                    pairs ? ", the longer sentence first" : ""));
}

// Of labels that the spec lists.
void warn_of_absent_labels(const LabelledText& training, Reading& reading) {
  std::vector<bool> seen(training.classes().size());
  for (std::int64_t i = 0; i < training.size(); ++i) seen[static_cast<std::size_t>(training.label(i))] = true;
  std::string absent;
  for (std::size_t c = 0; c < seen.size(); ++c)
    if (!seen[c]) absent += (absent.empty() ? "" : ", ") + training.classes()[c];
  if (!absent.empty())
    reading.warn("data.train: no sentence has the label " + absent +
                 ", which training.classify.labels lists");
}

std::vector<double> scored_values(const LabelledText& held_out, std::int64_t most) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < std::min(most, held_out.size()); ++i) values.push_back(held_out.value(i));
  return values;
}

}  // namespace

ClassifyText::ClassifyText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : tokenizer(Vocabulary::load(data_folder / spec.data.tokenizer.wordpiece), spec.data.tokenizer.lowercase),
      training(LabelledText::read(expand_globs(spec.data.train, data_folder), spec.training.classify,
                                  tokenizer, reading, spec.training.classify.labels)) {
  const ClassifySpec& form = spec.training.classify;
  warn_of_cuts(training, "data.train", spec.training, reading);
  if (spec.evaluate.every > 0) {
    const auto files = expand_globs({spec.evaluate.data}, data_folder);
    warn_of_held_out_training(files, expand_globs(spec.data.train, data_folder), reading);
    held_out = LabelledText::read(files, form, tokenizer, reading, training.classes());
    warn_of_cuts(*held_out, "evaluate.data", spec.training, reading);
  }
  if (form.regression) {
    labels = value_labels(
        training, held_out ? scored_values(*held_out, spec.evaluate.sequences) : std::vector<double>{});
  } else {
    warn_of_absent_labels(training, reading);
    class_weights = podium::class_weights(training, form);
    labels = class_labels(training, class_weights);
  }
}

ClassifyTask::ClassifyTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                           std::shared_ptr<const ClassifyText> text, DataRank place)
    : training_(training),
      text_(std::move(text)),
      held_out_(make_held_out(evaluate, place)),
      batches_(training_.batch.global, place,
               [this](const SampleRange& range) { return make_global_batch(range); }) {}

TaskBatch ClassifyTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) const {
  if (!text_->held_out) return {Sums(text_->labels->total_count(), 0.0), {}};
  const SampleRange share = share_of_held_out(std::min(evaluate.sequences, text_->held_out->size()), place);
  std::vector<std::int64_t> samples(static_cast<std::size_t>(share.end - share.begin));
  std::iota(samples.begin(), samples.end(), share.begin);
  return make_batch(*text_->held_out, samples, share.first);
}

std::int64_t ClassifyTask::shuffled(std::int64_t sample) const {
  const std::int64_t size = text_->training.size();
  const auto epoch = static_cast<std::uint64_t>(sample / size);
  return Shuffle(training_.seed, kSampleStream | epoch, size)[sample % size];
}

TaskBatch ClassifyTask::make_batch(const LabelledText& text, const std::vector<std::int64_t>& samples,
                                   std::int64_t first_sample) const {
  TaskBatch batch{Sums(text_->labels->total_count(), 0.0), {}};
  for (const std::int64_t sample : samples) text_->labels->count(text, sample, batch.totals);
  const auto most = static_cast<std::size_t>(training_.batch.micro);
  for (std::size_t begin = 0; begin < samples.size(); begin += most) {
    MicroBatch micro =
        collate(text, std::span(samples).subspan(begin, std::min(most, samples.size() - begin)));
    micro.first_sample = first_sample + static_cast<std::int64_t>(begin);
    batch.micro_batches.push_back(std::move(micro));
  }
  return batch;
}

MicroBatch ClassifyTask::collate(const LabelledText& text, std::span<const std::int64_t> samples) const {
  const SpecialTokens& special = text_->tokenizer.vocabulary().special();
  MicroBatch batch;
  batch.sequences = static_cast<int>(samples.size());
  batch.length = training_.sequence_length;
  for (const std::int64_t sample : samples) {
    const std::size_t begin = batch.input_ids.size(), padded = begin + static_cast<std::size_t>(batch.length);
    append_sequence(text.sentences(sample), batch.length, special, batch.input_ids, batch.token_types);
    batch.valid_lengths.push_back(static_cast<std::int32_t>(batch.input_ids.size() - begin));
    batch.input_ids.resize(padded, special.pad);
    batch.token_types.resize(padded, 0);
  }
  batch.targets[kClassTerm] = text_->labels->targets(text, samples, batch.length);
  return batch;
}

TaskBatch ClassifyTask::make_global_batch(const SampleRange& range) const {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = range.begin; i < range.end; ++i) samples.push_back(shuffled(i));
  return make_batch(text_->training, samples, range.first);
}

LossScales ClassifyTask::scales(const Sums& totals) const {
  const double weight = text_->labels->loss_weight(totals);
  return taught_scales(training_.distill, {weight > 0 ? static_cast<float>(1 / weight) : 0.0F}, 1);
}

Metrics ClassifyTask::training_metrics(const Sums& totals, const LossSums& losses) const {
  const double weight = text_->labels->loss_weight(totals);
  if (weight <= 0) return {};
  return taught_loss(training_.distill, losses[kClassTerm].loss / weight,
                     losses[kTaughtClassTerm].loss / weight);
}

Findings ClassifyTask::findings(const Evaluation& held_out) const {
  const double weight = text_->labels->loss_weight(held_out.totals);
  Metrics metrics;
  if (weight > 0) metrics.emplace_back("eval/loss", held_out.losses[kClassTerm].loss / weight);
  std::ranges::copy(text_->labels->metrics(held_out), std::back_inserter(metrics));
  return {std::move(metrics), {}};
}

TaskSource classify_task_source(const JobSpec& spec, const std::filesystem::path& data_folder,
                                Reading& reading, int data_rank, int data_size) {
  const auto text = std::make_shared<const ClassifyText>(spec, data_folder, reading);
  const std::vector<std::string>& classes = text->training.classes();
  return {text->tokenizer.vocabulary().size(),
          text->training.identity(),
          classify_head(static_cast<int>(classes.size()), spec.training.classify.dropout, text->class_weights,
                        classes.empty() ? std::nullopt : spec.training.distill),
          [=, evaluate = spec.evaluate](const TrainingSpec& phase) {
            return std::make_unique<ClassifyTask>(phase, evaluate, text, DataRank{data_rank, data_size});
          },
          classes,
          [text](std::int64_t count) { return identity_of(text->tokenizer.vocabulary(), count); }};
}

}  // namespace podium
