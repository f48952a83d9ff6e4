// Where and how the commands of inference compute.
#pragma once

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "worker/infer/bert_weights.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/wordpiece.h"
#include "worker/train/job_device.h"

namespace podium {

struct ComputeArguments {
  std::string precision;  // "": a quantised model's own; else fp32 on the CPU and fp16 on a GPU
  bool gpu = false;
  int threads = 0;  // 0: as many as the machine has
};

// Add --gpu and --threads, and --precision.
void add_device_arguments(CLI::App& command, ComputeArguments& arguments);
void add_compute_arguments(CLI::App& command, ComputeArguments& arguments);

// Adds --precision of a model that computes as in training.
void add_training_precision(CLI::App& command, Precision& precision);

// Throws Failure(bad_spec).
InferencePrecision precision_of(const ComputeArguments& arguments, const SourceModel& model);

// A context, with the device that it computes on.
struct Compute {
  explicit Compute(const ComputeArguments& arguments);  // throws Failure(no_device)

  JobDevice device;
  Context context;
};

// Where to find the vocabulary of a model that comes without one: --vocab and --cased, --data.
struct ModelArguments {
  std::filesystem::path model;
  std::filesystem::path vocabulary;
  std::filesystem::path data = ".";
  bool cased = false;
};

// Adds MODEL and the options above.
void add_model_arguments(CLI::App& command, ModelArguments& arguments);

// Of any family, with its tensors. Throws BadData.
SourceModel read_any_model(const ModelArguments& arguments);
// A BERT, without its tensors (source_model.h) and with them. Throw BadData.
SourceModel find_model(const ModelArguments& arguments);
SourceModel read_model(const ModelArguments& arguments);
// With all special tokens; no id is beyond the model's. Throws BadData.
std::unique_ptr<const WordPieceTokenizer> tokenizer_of(const SourceModel& model);
// Of a language model; `given` (--tokenizer) goes first. No id is beyond the model's. Throws BadData.
std::unique_ptr<const BpeTokenizer> byte_pairs_of(const SourceModel& model, const std::string& given = "");

}  // namespace podium
