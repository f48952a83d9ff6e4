#include "worker/train/pretraining_text.h"

#include <algorithm>

#include "worker/data/text_files.h"

namespace podium {

PretrainingText read_pretraining_text(const JobSpec& spec, const std::filesystem::path& data_folder) {
  const TokenizerSpec& tokens = spec.data.tokenizer;
  WordPieceTokenizer tokenizer(Vocabulary::load(data_folder / tokens.wordpiece), tokens.lowercase);
  Corpus training = Corpus::read(expand_globs(spec.data.train, data_folder), tokenizer);
  std::optional<Corpus> held_out;
  if (spec.evaluate.every > 0)
    held_out = Corpus::read(expand_globs({spec.evaluate.data}, data_folder), tokenizer);
  return {std::move(tokenizer), std::move(training), std::move(held_out)};
}

PretrainingOptions pretraining_options(const TrainingSpec& training, std::uint64_t seed) {
  const MaskingSpec& masking = training.masking;
  const int most = masking.max_predictions > 0 ? masking.max_predictions
                                               : default_max_predictions(training.sequence_length);
  return {training.sequence_length, {masking.probability, most, masking.whole_word}, seed};
}

MicroBatch collate(const std::vector<PretrainingSample>& samples, int length, std::int32_t pad) {
  MicroBatch batch;
  batch.sequences = static_cast<int>(samples.size());
  batch.length = length;
  const auto columns = static_cast<std::size_t>(length);
  batch.input_ids.assign(samples.size() * columns, pad);
  batch.token_types.assign(samples.size() * columns, 0);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const PretrainingSample& sample = samples[row];
    const auto begin = static_cast<std::ptrdiff_t>(row * columns);
    const auto valid = static_cast<std::ptrdiff_t>(sample.ids.size());
    std::copy(sample.ids.begin(), sample.ids.end(), batch.input_ids.begin() + begin);
    std::fill(batch.token_types.begin() + begin + sample.first_of_b,
              batch.token_types.begin() + begin + valid, 1);
    batch.valid_lengths.push_back(static_cast<std::int32_t>(valid));
    batch.next_sentence_labels.push_back(sample.random_next ? 1 : 0);
    for (const std::int32_t position : sample.masked.positions)
      batch.scored_positions.push_back(static_cast<std::int32_t>(begin) + position);
    batch.labels.insert(batch.labels.end(), sample.masked.labels.begin(), sample.masked.labels.end());
  }
  return batch;
}

}  // namespace podium
