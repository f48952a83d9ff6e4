#include "worker/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>

#include "worker/data/pretraining_dataset.h"
#include "worker/evaluate/lambada.h"
#include "worker/evaluate/wikitext.h"
#include "worker/input/bad_data.h"
#include "worker/nn/pretraining_head.h"
#include "worker/tasks/data_share.h"
#include "worker/tasks/pretraining/pretraining_text.h"

namespace podium {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
double share(std::int64_t part, std::int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace

Measures evaluate_wikitext(TrainedModel& model, const Tokenizer& tokenizer, std::string_view text,
                           const WindowRule& rule, int batch, std::int32_t pad, const OnProgress& progress) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(detokenize_wikitext(text), ids);
  const std::int64_t words = count_wikitext_words(text);
  const std::int64_t windows = window_count(std::ssize(ids), rule);
  if (windows == 0 || words < 2) throw BadData("the text has no two words to measure on");
  LossSums sums{};
  for (std::int64_t begin = 0; begin < windows; begin += batch) {
    const std::int64_t end = std::min(windows, begin + batch);
    sums += model.evaluate(windows_of(ids, rule, begin, end, pad));
    progress(share(end, windows));
  }
  const LossSum& sum = sums[kLanguageTerm];
  return {{"word_perplexity", std::exp(sum.loss / static_cast<double>(words - 1))},
          {"token_perplexity", std::exp(sum.loss / static_cast<double>(sum.count))},
          {"token_loss", sum.loss / static_cast<double>(sum.count)},
          {"token_accuracy", share(sum.correct, sum.count)},
          {"words", static_cast<double>(words)},
          {"tokens", static_cast<double>(ids.size())}};
}

Measures evaluate_lambada(TrainedModel& model, const Tokenizer& tokenizer,
                          const std::vector<std::string>& passages, const OnProgress& progress) {
  LossSum all;
  std::int64_t right = 0, judged = 0, left_out = 0;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const LastWord passage = split_last_word(passages[i], tokenizer);
    if (passage.context.empty() || passage.word.empty()) {
      ++left_out;
      continue;
    }
    const LossSum sum = model.evaluate(batch_of(passage, model.spec().max_positions))[kLanguageTerm];
    ++judged;
    right += sum.correct == sum.count;
    all += sum;
    progress(share(static_cast<std::int64_t>(i + 1), std::ssize(passages)));
  }
  return {{"last_word_accuracy", share(right, judged)},
          {"token_accuracy", share(all.correct, all.count)},
          {"perplexity", std::exp(share(all.loss, static_cast<double>(all.count)))},
          {"passages", static_cast<double>(judged)},
          {"left_out", static_cast<double>(left_out)}};
}

Measures evaluate_masked(TrainedModel& model, const WordPieceTokenizer& tokenizer, const Corpus& corpus,
                         const TrainingSpec& training, std::int64_t sequences, int batch,
                         const OnProgress& progress) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  PretrainingDataset dataset(corpus, vocabulary, pretraining_options(training, kHeldOutSeed));
  sequences = std::min(sequences, dataset.first_epoch_size());
  LossSums sums{};
  for (std::int64_t begin = 0; begin < sequences; begin += batch) {
    const std::int64_t end = std::min(sequences, begin + batch);
    std::vector<PretrainingSample> samples;
    for (std::int64_t i = begin; i < end; ++i) samples.push_back(dataset.sample(i));
    sums += model.evaluate(collate(samples, training.sequence_length, vocabulary.special().pad));
    progress(share(end, sequences));
  }
  const LossSum& masked = sums[kLanguageTerm];
  const LossSum& next = sums[kNextSentenceTerm];
  const double loss = share(masked.loss, static_cast<double>(masked.count));
  Measures measures{{"masked_perplexity", std::exp(loss)},
                    {"mlm_loss", loss},
                    {"mlm_accuracy", share(masked.correct, masked.count)}};
  if (model.judges_pairs()) measures.emplace_back("nsp_accuracy", share(next.correct, next.count));
  measures.emplace_back("sequences", static_cast<double>(sequences));
  measures.emplace_back("masked_tokens", static_cast<double>(masked.count));
  return measures;
}

}  // namespace podium
