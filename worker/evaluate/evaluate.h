// The published measures of language models, on a whole model in one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/corpus.h"
#include "worker/evaluate/trained_model.h"
#include "worker/evaluate/windows.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

// Measures and counts under their names, in the order to be told.
using Measures = std::vector<std::pair<std::string, double>>;

// Gets how much of the work is done, from 0 to 1, after each batch. Throwing ends the evaluation.
using OnProgress = std::function<void(double done)>;

// WikiText's perplexity by word (wikitext.h), with windows that overlap: "word_perplexity" is exp(sum of the
// losses / (words - 1)), "token_perplexity" that by token. `text` is in WikiText's tokenised form. Throws
// BadData where there are not two tokens.
Measures evaluate_wikitext(TrainedModel& model, const Tokenizer& tokenizer, std::string_view text,
                           const WindowRule& rule, int batch, std::int32_t pad, const OnProgress& progress);

// The share of passages whose last word is right ("last_word_accuracy"), and of their tokens
// ("token_accuracy"; "perplexity" is by token, too). A passage of one word is left out and counted.
Measures evaluate_lambada(TrainedModel& model, const Tokenizer& tokenizer,
                          const std::vector<std::string>& passages, const OnProgress& progress);

// What a job of the task pretrain tells as eval/mlm_loss and so on of this held-out text, of at most
// `sequences`, in a phase of `training`; and exp(loss) as "masked_perplexity". A model that does not judge
// pairs has no "nsp_accuracy".
Measures evaluate_masked(TrainedModel& model, const WordPieceTokenizer& tokenizer, const Corpus& corpus,
                         const TrainingSpec& training, std::int64_t sequences, int batch,
                         const OnProgress& progress);

}  // namespace podium
