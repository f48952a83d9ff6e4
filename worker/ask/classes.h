// Sentences on their way to a classifier, and how what it tells of them is written.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/model/classify_spec.h"
#include "worker/infer/source_model.h"
#include "worker/infer/text_batches.h"

namespace podium {

// What a classifier's training saw, as far as the model tells.
struct ClassHabits {
  std::optional<ClassifySpec> columns;  // of its tables, where it is a checkpoint
  std::optional<bool> pairs;            // whether it saw pairs of sentences
  // The most tokens of a sequence: those of a checkpoint's training, which cut what was longer, as it is done
  // here; else the model's positions, and what is longer is refused unless somebody asks to cut it.
  TextLimit limit;
};
ClassHabits class_habits(const SourceModel& model);

// The sentence, or the pair, as the classifier takes it. Throws BadData naming `origin` where it is empty,
// has no token, is too long and not to be cut (`truncate`), or where the model, `name`, was trained on pairs
// and this is none, or the reverse.
TextSequence class_sequence(const WordPieceTokenizer& tokenizer, const std::string& text,
                            const std::optional<std::string>& pair, const ClassHabits& habits, bool truncate,
                            const std::string& name, const std::string& origin);

// The likeliest of the classes whose logits these are, of equal ones the first.
std::size_t likeliest_class(std::span<const float> logits);

// "label", "probability" and the "probabilities" of all labels; where there are none, "value".
nlohmann::ordered_json class_json(std::span<const float> outputs, std::span<const std::string> labels);

}  // namespace podium
