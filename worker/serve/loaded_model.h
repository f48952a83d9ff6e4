// A model in the memory that it is computed in, with all that its answers need.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "worker/infer/bert_weights.h"
#include "worker/tasks/squad/question_rules.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

struct LoadedModel {
  std::string origin;     // how messages name it
  std::string precision;  // in which it computes
  std::unique_ptr<const WordPieceTokenizer> tokenizer;
  std::shared_ptr<Context> context;  // with the device that it computes on
  BertWeights weights;
  QuestionRules questions;  // where it answers any
};

// Throws BadData or Failure where the folder holds no model that can be served.
using LoadModel = std::function<std::unique_ptr<LoadedModel>(const std::filesystem::path& folder)>;

}  // namespace podium
