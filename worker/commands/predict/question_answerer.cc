#include "worker/commands/predict/question_answerer.h"

#include <chrono>

#include "worker/ask/questions.h"
#include "worker/infer/finite_results.h"

namespace podium {

std::vector<SquadAnswers> QuestionAnswerer::answer(const SquadData& data,
                                                   std::span<const std::string> names) {
  SquadText text;
  Reading reading;
  text.add_questions(data, *model_.tokenizer, reading);
  const SquadFeatures features(text, rules_.shape);
  const std::vector<FeatureScores> scores = scores_of(features, names);
  std::vector<SquadAnswers> answers;
  for (std::int64_t q = 0; q < std::ssize(text.questions()); ++q) {
    const auto first = static_cast<std::size_t>(features.first_of(q)),
               count = static_cast<std::size_t>(features.first_of(q + 1)) - first;
    answers.push_back(answer_question(features, q, std::span(scores).subspan(first, count), rules_.answers));
  }
  return answers;
}

std::vector<FeatureScores> QuestionAnswerer::scores_of(const SquadFeatures& features,
                                                       std::span<const std::string> names) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<FeatureScores> scores;
  for (std::int64_t first = 0; first < features.size(); first += static_cast<std::int64_t>(batch_)) {
    std::vector<TextSequence> together;
    for (std::int64_t f = first; f < features.size() && together.size() < batch_; ++f)
      together.push_back(feature_sequence(features, f, model_.tokenizer->special()));
    for (const std::vector<float>& logits : inference_.span_scores(together)) {
      const std::int64_t question = features[std::ssize(scores)].question;
      if (!all_finite(logits)) refuse_not_finite(names[static_cast<std::size_t>(question)]);
      scores.push_back(feature_scores(logits, rules_));
    }
  }
  sequences_ += features.size();
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return scores;
}

}  // namespace podium
