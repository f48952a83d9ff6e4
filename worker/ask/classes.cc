#include "worker/ask/classes.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/infer/head_inference.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"
#include "worker/train/phases.h"

namespace podium {

namespace {

std::string refusal_of(const std::string& text, const std::optional<std::string>& pair,
                       const ClassHabits& habits, const std::string& name) {
  if (is_blank(text) || (pair && is_blank(*pair)))
    return pair ? "a sentence of the pair is empty" : "the sentence is empty";
  if (habits.pairs && *habits.pairs != pair.has_value())
    return fmt::format("{} was trained on {}", name,
                       pair ? "single sentences; leave out the pair" : "pairs; add the second sentence");
  return "";
}

}  // namespace

ClassHabits class_habits(const SourceModel& model) {
  ClassHabits habits{{}, model.head.pairs, {.tokens = model.spec.max_positions}};
  if (!model.checkpoint) return habits;
  const TrainingSpec training = training_phases(model.checkpoint->state.spec.training).back().training;
  habits.columns = training.classify;
  habits.limit = {.tokens = training.sequence_length, .cut = true};
  return habits;
}

TextSequence class_sequence(const WordPieceTokenizer& tokenizer, const std::string& text,
                            const std::optional<std::string>& pair, const ClassHabits& habits, bool truncate,
                            const std::string& name, const std::string& origin) {
  const std::string refusal = refusal_of(text, pair, habits, name);
  if (!refusal.empty()) throw BadData(origin + ": " + refusal);
  const TextLimit limit{.tokens = habits.limit.tokens, .cut = truncate || habits.limit.cut};
  TextSequence sequence = encode_text(tokenizer, text, pair, limit, origin);
  if (has_empty_part(sequence))
    throw BadData(origin + ": " + (pair ? "a sentence of the pair" : "the sentence") + " has no token");
  return sequence;
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
