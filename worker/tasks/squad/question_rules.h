// How a trained model sees and answers questions: in training's way, or in run_squad.py's where its training
// is not known.
#pragma once

#include <optional>

#include "worker/checkpoint/manifest.h"
#include "worker/tasks/squad/squad_answers.h"

namespace podium {

struct QuestionRules {
  FeatureShape shape;
  AnswerRules answers;
};

// Of the checkpoint's spec, in its last phase, where there is one. Of a model with few positions a fourth is
// then for the question, and spans begin a fourth apart.
QuestionRules question_rules(const std::optional<CheckpointManifest>& checkpoint, int max_positions);

}  // namespace podium
