// Exact match and F1 of answers to SQuAD's questions, exactly as the official evaluate-v1.1.py and
// evaluate-v2.0.py have them. Both normalise first: lower case, without ASCII punctuation and without the
// words a, an and the, white space folded. Shares are in percent.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "worker/tasks/squad/squad_data.h"

namespace podium {

enum class SquadRules { v1, v2 };

std::string normalized_answer(std::string_view answer);

struct AnswerScore {
  double exact = 0;  // 0 or 1
  double f1 = 0;     // 0 to 1
};

// The best exact match and the best F1 over the true answers, each on its own. Under 1.1's rules two answers
// that normalise to nothing match exactly with an F1 of 0; under 2.0's true answers that normalise to nothing
// do not count, and where none is left nothing is the true answer.
AnswerScore score_answer(std::string_view answer, std::span<const SquadAnswer> truths, SquadRules rules);

// Means over questions, in percent.
struct MeanScore {
  double exact = 0;
  double f1 = 0;
  std::int64_t questions = 0;
};

// What scores would be at best if all answers with greater odds were taken for "no answer".
struct BestThresholds {
  double exact = 0, exact_threshold = 0;
  double f1 = 0, f1_threshold = 0;
};

struct SquadScores {
  MeanScore all;
  std::optional<MeanScore> has_answer, no_answer;  // 2.0
  std::optional<BestThresholds> best;              // 2.0, with null odds
  std::vector<std::string> unanswered;             // ids; they score 0 in 1.1 and do not count in 2.0
};

using SquadPredictions = std::unordered_map<std::string, std::string>;

// Of each question the odds that it has no answer. Above `threshold` an answer counts as none.
struct NullOdds {
  std::vector<std::pair<std::string, double>> by_id;
  double threshold = 1.0;
};

SquadScores score_squad_v1(const SquadData& data, const SquadPredictions& predictions);
// Throws BadData where a question that is answered has no odds although `odds` is given, or none is answered.
SquadScores score_squad_v2(const SquadData& data, const SquadPredictions& predictions,
                           const NullOdds* odds = nullptr);

}  // namespace podium
