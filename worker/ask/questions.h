// Questions on their way to a BERT, and how its answers are told.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "worker/infer/text_batches.h"
#include "worker/tasks/squad/question_rules.h"

namespace podium {

TextSequence feature_sequence(const SquadFeatures& features, std::int64_t feature,
                              const SpecialTokens& special);
// `logits` [tokens, 2], what the head for answers makes of the feature's sequence.
FeatureScores feature_scores(std::span<const float> logits, const QuestionRules& rules);

// Of the answer; 0 where it is not among the best.
double probability_of(const SquadAnswers& answers);
// "answer", "probability", "null_odds" where there may be none, and so many of the "best". The answer is null
// where a text had to be told and none competes.
nlohmann::ordered_json answer_json(const SquadAnswers& answers, bool may_be_none, int best);

}  // namespace podium
