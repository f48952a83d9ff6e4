// What podium-worker predict does, kind by kind: a kind is a head that a model may have, the options that say
// what to predict with it, and how that is told. A new one is a class in a file of its own and a line in
// predict_command.cc.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "worker/commands/compute_arguments.h"
#include "worker/infer/bert_weights.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium {

// Of all kinds.
struct PredictArguments {
  ModelArguments model;
  ComputeArguments compute;
  std::string jsonl;  // "": a kind's own options say what to predict
  int batch = 16;     // sequences computed together
  bool truncate = false;
  bool json = false;
};

// A model that is ready to predict.
struct PredictModel {
  explicit PredictModel(const PredictArguments& arguments);

  SourceModel source;
  std::unique_ptr<const WordPieceTokenizer> tokenizer;
  Compute compute;
  BertWeights weights;
};

class Prediction {
 public:
  virtual ~Prediction() = default;

  // What a model with the head does, such as "answers questions".
  virtual std::string_view ability() const = 0;
  virtual void add_options(CLI::App& options) = 0;
  // Whether these options say what to predict. Throws Failure(bad_spec) and BadData where they cannot be
  // used.
  virtual bool is_asked() = 0;
  // Whether the model has the head.
  virtual bool suits(const BertWeights& weights) const = 0;
  // Predicts what the options say or, where there is --jsonl, its lines.
  virtual void run(const PredictArguments& arguments, PredictModel& model) = 0;
};

std::unique_ptr<Prediction> make_class_prediction();
std::unique_ptr<Prediction> make_question_prediction();
std::unique_ptr<Prediction> make_text_prediction();

// Of a text of the command line. Throws Failure(bad_spec) if it is blank, and BadData if it is no UTF-8.
void check_text(std::string_view option, const std::string& text);

// A line's first field; nothing where there is no id.
std::string id_field(const std::string& id);

}  // namespace podium
