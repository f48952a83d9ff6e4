// Everything BERT pre-training reads before it begins: vocabulary, training corpus, held-out corpus.
#pragma once

#include <filesystem>
#include <optional>

#include "common/model/spec.h"
#include "worker/data/corpus.h"
#include "worker/data/pretraining_dataset.h"
#include "worker/data/reading.h"
#include "worker/nn/micro_batch.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct PretrainingText {
  WordPieceTokenizer tokenizer;
  std::vector<Corpus> training;    // several where the spec blends them
  std::vector<double> weights;     // of each
  std::optional<Corpus> held_out;  // if the spec evaluates
};

// Relative paths begin at `data_folder`. Throws BadData. Warns of text from which the task cannot be learnt
// as intended.
PretrainingText read_pretraining_text(const JobSpec& spec, const std::filesystem::path& data_folder,
                                      Reading& reading);

PretrainingOptions pretraining_options(const TrainingSpec& training, std::uint64_t seed);

// Pads samples to one batch of `length` columns.
MicroBatch collate(const std::vector<PretrainingSample>& samples, int length, std::int32_t pad);

}  // namespace podium
