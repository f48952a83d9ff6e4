#include "worker/tasks/squad/question_rules.h"

#include <algorithm>

#include "worker/checkpoint/manifest.h"
#include "worker/tasks/squad/squad_task.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

constexpr int kUsualLength = 384;

}  // namespace

QuestionRules question_rules(const std::optional<CheckpointManifest>& checkpoint, int max_positions) {
  if (checkpoint) {
    const JobSpec& spec = checkpoint->state.spec;
    return {feature_shape(training_phases(spec.training).back().training),
            answer_rules(spec.evaluate.squad, false)};
  }
  QuestionRules rules{.shape = {.sequence_length = std::min(kUsualLength, max_positions)}};
  if (rules.shape.sequence_length <= 2 * rules.shape.query_length)
    rules.shape.query_length = rules.shape.document_stride = rules.shape.sequence_length / 4;
  return rules;
}

}  // namespace podium
