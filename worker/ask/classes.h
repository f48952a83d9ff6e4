// Sentences on their way to a classifier, and how what it tells of them is written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/model/classify_spec.h"
#include "worker/checkpoint/manifest.h"
#include "worker/infer/text_batches.h"

namespace podium {

// What a classifier's training saw, as far as a checkpoint tells: the columns of its tables, and the most
// tokens of a sequence; else the model's positions.
struct ClassHabits {
  std::optional<ClassifySpec> columns;
  int tokens = 0;
};
ClassHabits class_habits(const std::optional<CheckpointManifest>& checkpoint, int max_positions);

// What is wrong with the sentence, or the pair: it is empty, or the model, `origin`, was trained on pairs and
// this is none, or the reverse. "": nothing.
std::string refusal_of(const std::string& text, const std::optional<std::string>& pair,
                       const ClassHabits& habits, const std::string& origin);

// The likeliest of the classes whose logits these are, of equal ones the first.
std::size_t likeliest_class(std::span<const float> logits);

// "label", "probability" and the "probabilities" of all labels; where there are none, "value".
nlohmann::ordered_json class_json(std::span<const float> outputs, std::span<const std::string> labels);

}  // namespace podium
