#include "worker/ask/classes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/infer/head_inference.h"
#include "worker/input/text_files.h"
#include "worker/train/phases.h"

namespace podium {

ClassHabits class_habits(const std::optional<CheckpointManifest>& checkpoint, int max_positions) {
  if (!checkpoint) return {{}, max_positions};
  const TrainingSpec training = training_phases(checkpoint->state.spec.training).back().training;
  return {training.classify, training.sequence_length};
}

std::string refusal_of(const std::string& text, const std::optional<std::string>& pair,
                       const ClassHabits& habits, const std::string& origin) {
  if (is_blank(text) || (pair && is_blank(*pair)))
    return pair ? "a sentence of the pair is empty" : "the sentence is empty";
  if (habits.columns && habits.columns->pair.has_value() != pair.has_value())
    return fmt::format("{} was trained on {}", origin,
                       pair ? "single sentences; leave out the pair" : "pairs; add the second sentence");
  return "";
}

std::size_t likeliest_class(std::span<const float> logits) {
  return static_cast<std::size_t>(std::ranges::max_element(logits) - logits.begin());
}

nlohmann::ordered_json class_json(std::span<const float> outputs, std::span<const std::string> labels) {
  nlohmann::ordered_json object;
  if (labels.empty()) {
    object["value"] = outputs[0];
    return object;
  }
  const std::vector<double> shares = softmax_of(outputs);
  const std::size_t best = likeliest_class(outputs);
  object["label"] = labels[best];
  object["probability"] = shares[best];
  for (std::size_t i = 0; i < shares.size(); ++i) object["probabilities"][labels[i]] = shares[i];
  return object;
}

}  // namespace podium
