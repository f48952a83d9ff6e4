#include "worker/ask/questions.h"

#include <algorithm>

namespace podium {

TextSequence feature_sequence(const SquadFeatures& features, std::int64_t feature,
                              const SpecialTokens& special) {
  TextSequence sequence;
  features.append(feature, special, sequence.ids, sequence.types);
  return sequence;
}

FeatureScores feature_scores(std::span<const float> logits, const QuestionRules& rules) {
  return FeatureScores::of(logits, std::min(rules.answers.n_best, rules.shape.sequence_length));
}

double probability_of(const SquadAnswers& answers) {
  const auto found = std::ranges::find(answers.best, answers.answer, &ScoredAnswer::text);
  return found == answers.best.end() ? 0 : found->probability;
}

nlohmann::ordered_json answer_json(const SquadAnswers& answers, bool may_be_none, int best) {
  if (!answers.has_candidate)
    return {{"answer", nullptr}, {"probability", 0}, {"best", nlohmann::ordered_json::array()}};
  nlohmann::ordered_json object{{"answer", answers.answer}, {"probability", probability_of(answers)}};
  if (may_be_none) object["null_odds"] = answers.null_odds;
  object["best"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(answers.best.size(), static_cast<std::size_t>(best)); ++i)
    object["best"].push_back({{"text", answers.best[i].text},
                              {"probability", answers.best[i].probability},
                              {"start_logit", answers.best[i].first},
                              {"end_logit", answers.best[i].last}});
  return object;
}

}  // namespace podium
