// From scores of positions to answers, as Google's run_squad.py finds them: of each feature the positions
// that score highest as a first and as a last token, of all pairs the best, of all features of a question the
// n best texts. Two things differ. Only valid tokens compete, for padding is not computed. And an answer is
// the context's own text between its tokens (SquadContext::text_of) where run_squad.py projects a
// normalised text back and, if that fails, takes whole words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "worker/tasks/squad/squad_text.h"

namespace podium {

struct AnswerRules {
  int n_best = 20;
  int answer_length = 30;     // tokens
  bool may_be_none = false;   // SQuAD 2.0
  double null_threshold = 0;  // the answer is none if that scores so much higher than the best text
};

// The candidates of one feature as numbers, which ranks can add up: those of features that a rank has not
// computed are 0.
class FeatureScores {
 public:
  static std::size_t count(int n_best) { return 2 + 4 * static_cast<std::size_t>(n_best); }

  // `logits` [valid positions, 2]: as a first and as a last token.
  static void write(std::span<const float> logits, int n_best, std::span<double> numbers);
  static FeatureScores of(std::span<const float> logits, int n_best);

  struct Candidate {
    std::int32_t position = 0;
    double score = 0;
  };
  explicit FeatureScores(std::span<const double> numbers);

  double null_first = 0, null_last = 0;  // of [CLS]
  std::vector<Candidate> firsts, lasts;  // from the highest score down
};

struct ScoredAnswer {
  std::string text;
  double probability = 0;  // among the best
  double first = 0, last = 0;
};

struct SquadAnswers {
  std::string answer;
  std::vector<ScoredAnswer> best;  // at least one
  double null_odds = 0;            // of 2.0: the score of none less that of the best text
  bool has_candidate = true;       // false: no text competes, and the answer is the word "empty"
};

// `scores` are those of the question's features, in order.
SquadAnswers answer_question(const SquadFeatures& features, std::int64_t question,
                             std::span<const FeatureScores> scores, const AnswerRules& rules);

// The official forms of predictions.json, nbest_predictions.json and null_odds.json, for questions with
// these ids.
struct AnswerFiles {
  std::string predictions, n_best, null_odds;
};
AnswerFiles answer_files(std::span<const std::string> ids, std::span<const SquadAnswers> answers);

}  // namespace podium
