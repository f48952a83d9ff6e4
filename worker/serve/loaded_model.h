// A model in the memory that it is computed in, with all that its answers need.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/ask/classes.h"
#include "worker/generate/language_weights.h"
#include "worker/infer/bert_weights.h"
#include "worker/tasks/squad/question_rules.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct BertModel {
  std::unique_ptr<const WordPieceTokenizer> tokenizer;
  BertWeights weights;
  QuestionRules questions;          // where it answers any
  ClassHabits habits;               // where it classifies
  std::vector<std::string> labels;  // of its classes; none: a value
};

struct LanguageModel {
  std::unique_ptr<const BpeTokenizer> tokenizer;
  std::vector<std::int32_t> ends;  // tokens that end a text
  LanguageWeights weights;
};

// Of one of both kinds.
struct LoadedModel {
  std::string origin;     // how messages name it
  std::string precision;  // in which it computes
  ModelSpec spec;
  std::shared_ptr<Context> context;  // with the device that it computes on
  std::optional<BertModel> bert;
  std::optional<LanguageModel> language;
};

// Throws BadData or Failure where the folder holds no model that can be served.
using LoadModel = std::function<std::unique_ptr<LoadedModel>(const std::filesystem::path& folder)>;

}  // namespace podium
