// A BERT that answers questions from their contexts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/commands/predict/prediction.h"
#include "worker/infer/head_inference.h"
#include "worker/tasks/squad/question_rules.h"
#include "worker/tasks/squad/squad_data.h"

namespace podium {

class QuestionAnswerer {
 public:
  // `model` outlives it.
  QuestionAnswerer(PredictModel& model, const QuestionRules& rules, int batch)
      : model_(model),
        rules_(rules),
        batch_(static_cast<std::size_t>(batch)),
        inference_(model.compute.context, model.weights, model.tokenizer->special()) {}

  // Of all questions, in order; `names` says how an error calls them.
  std::vector<SquadAnswers> answer(const SquadData& data, std::span<const std::string> names);

  std::int64_t sequences() const { return sequences_; }
  double sequences_per_second() const { return static_cast<double>(sequences_) / seconds_; }

 private:
  std::vector<FeatureScores> scores_of(const SquadFeatures& features, std::span<const std::string> names);

  PredictModel& model_;
  QuestionRules rules_;
  std::size_t batch_;
  HeadInference inference_;
  std::int64_t sequences_ = 0;
  double seconds_ = 0;
};

}  // namespace podium
