#include "worker/tasks/pretraining/pretraining_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/data/data_files.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/held_out_files.h"
#include "worker/tasks/training_files.h"

namespace podium {
namespace {

constexpr std::int64_t kFewestToWarnOf = 10;  // one of so many documents has one sentence

void warn_of_lone_sentences(const std::string& key, const Corpus& corpus, Reading& reading) {
  const std::int64_t lone = corpus.lone_sentences();
  if (lone * kFewestToWarnOf <= corpus.documents()) return;
  reading.warn(fmt::format(
      "{}: {} of {} documents have one sentence only. Nothing follows it, so its next sentence is "
      "always one of another document, and of a long one all beyond the sequence length is left "
      "out; write one sentence a line and an empty line between documents",
      key, lone, corpus.documents()));
}

}  // namespace

PretrainingText read_pretraining_text(const JobSpec& spec, const std::filesystem::path& data_folder,
                                      Reading& reading) {
  const TokenizerSpec& tokens = spec.data.tokenizer;
  WordPieceTokenizer tokenizer(Vocabulary::load(data_folder / tokens.wordpiece), tokens.lowercase);
  const TrainingFiles files = training_files(spec.data, data_folder);
  std::vector<Corpus> training;
  for (const auto& set : files.sets) {
    training.push_back(Corpus::read(set, tokenizer, reading));
    warn_of_lone_sentences("data.train", training.back(), reading);
  }
  std::optional<Corpus> held_out;
  if (spec.evaluate.every > 0) {
    const auto held_out_files = data_files({spec.evaluate.data}, data_folder);
    warn_of_held_out_training(held_out_files, files.all(), reading);
    held_out = Corpus::read(held_out_files, tokenizer, reading);
    warn_of_lone_sentences("evaluate.data", *held_out, reading);
  }
  return {std::move(tokenizer), std::move(training), files.weights, std::move(held_out)};
}

PretrainingOptions pretraining_options(const TrainingSpec& training, std::uint64_t seed) {
  const MaskingSpec& masking = training.masking;
  const int most = masking.max_predictions > 0 ? masking.max_predictions
                                               : default_max_predictions(training.sequence_length);
  return {training.sequence_length,
          {masking.probability, most, masking.whole_word},
          seed,
          training.short_sequences};
}

MicroBatch collate(const std::vector<PretrainingSample>& samples, int length, std::int32_t pad) {
  MicroBatch batch;
  batch.sequences = static_cast<int>(samples.size());
  batch.length = length;
  const auto columns = static_cast<std::size_t>(length);
  batch.input_ids.assign(samples.size() * columns, pad);
  batch.token_types.assign(samples.size() * columns, 0);
  Targets& masked = batch.targets[kLanguageTerm];
  std::vector<std::int32_t> random_next;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const PretrainingSample& sample = samples[row];
    const auto begin = static_cast<std::ptrdiff_t>(row * columns);
    const auto valid = static_cast<std::ptrdiff_t>(sample.ids.size());
    std::copy(sample.ids.begin(), sample.ids.end(), batch.input_ids.begin() + begin);
    std::fill(batch.token_types.begin() + begin + sample.first_of_b,
              batch.token_types.begin() + begin + valid, 1);
    batch.valid_lengths.push_back(static_cast<std::int32_t>(valid));
    random_next.push_back(sample.random_next ? 1 : 0);
    for (const std::int32_t position : sample.masked.positions)
      masked.positions.push_back(static_cast<std::int32_t>(begin) + position);
    masked.labels.insert(masked.labels.end(), sample.masked.labels.begin(), sample.masked.labels.end());
  }
  batch.targets[kNextSentenceTerm] = sequence_targets(std::move(random_next), length);
  return batch;
}

}  // namespace podium
