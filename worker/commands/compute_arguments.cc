#include "worker/commands/compute_arguments.h"

#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <map>
#include <stdexcept>
#include <thread>

#include "common/base/logging.h"
#include "worker/commands/number_checks.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/tokenizer/load_tokenizer.h"
#include "worker/tokenizer/vocabulary_room.h"

namespace podium {

void add_device_arguments(CLI::App& command, ComputeArguments& arguments) {
  command.add_flag("--gpu", arguments.gpu, "On this machine's first GPU");
  command.add_option("--threads", arguments.threads, "CPU threads; 0: the machine's")->check(thread_count());
}

void add_compute_arguments(CLI::App& command, ComputeArguments& arguments) {
  command.add_option(
      "--precision", arguments.precision,
      "fp32, bf16, fp16, int8 or fp8; else that of a quantised model, fp32 on the CPU, fp16 on a GPU");
  add_device_arguments(command, arguments);
}

void add_training_precision(CLI::App& command, Precision& precision) {
  const std::map<std::string, Precision> names = {
      {"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}};
  command
      .add_option_function<std::string>(
          "--precision", [=, &precision](const std::string& name) { precision = names.at(name); },
          "fp32, bf16 or fp16")
      ->check(CLI::IsMember(names).description(""))
      ->default_str("fp32");
}

InferencePrecision precision_of(const ComputeArguments& arguments, const SourceModel& model) {
  if (arguments.precision.empty()) {
    if (model.quantised_to) return *model.quantised_to;
    return arguments.gpu ? InferencePrecision::fp16 : InferencePrecision::fp32;
  }
  try {
    return inference_precision_from(arguments.precision);
  } catch (const std::invalid_argument& error) {
    throw Failure(WorkerExit::bad_spec, std::string("--precision: ") + error.what());
  }
}

Compute::Compute(const ComputeArguments& arguments)
    : device(open_job_device(arguments.gpu ? "gpu" : "cpu", 0)) {
  device.lend_to(context);
  context.threads = arguments.threads > 0
                        ? arguments.threads
                        : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void add_model_arguments(CLI::App& command, ModelArguments& arguments) {
  command.add_option("model", arguments.model, "Hugging Face folder, checkpoint or quantised model")
      ->required();
  command.add_option("--vocab", arguments.vocabulary, "vocab.txt, where the model has none beside it");
  command.add_flag("--cased", arguments.cased, "With --vocab: keep capitals and accents");
  command.add_option("--data", arguments.data, "Folder where the paths of a checkpoint's spec begin")
      ->capture_default_str();
}

namespace {

SourceModel find_any_model(const ModelArguments& arguments) {
  SourceModel model = find_source_model(arguments.model, arguments.data);
  if (model.spec.family == ModelFamily::bert && !arguments.vocabulary.empty())
    model.tokenizer = wordpiece_source(arguments.vocabulary, !arguments.cased);
  return model;
}

}  // namespace

SourceModel find_model(const ModelArguments& arguments) {
  SourceModel model = find_any_model(arguments);
  check_family(arguments.model, model.spec);
  return model;
}

SourceModel read_any_model(const ModelArguments& arguments) {
  SourceModel model = find_any_model(arguments);
  read_tensors(model);
  return model;
}

SourceModel read_model(const ModelArguments& arguments) {
  SourceModel model = find_model(arguments);
  read_tensors(model);
  return model;
}

namespace {

// Of the kind that the model needs. `absent` ends the message where there is none, `other` where it is of
// another.
template <class Kind>
std::unique_ptr<const Kind> load_kind(const SourceModel& model, const TokenizerSource& source,
                                      std::string_view absent, std::string_view other) {
  const auto& [what, lowercase] = source;
  if (what.empty()) throw BadData(fmt::format("{} has no {}", model.origin, absent));
  std::unique_ptr<const Tokenizer> tokenizer = load_tokenizer(what, lowercase);
  const auto* found = dynamic_cast<const Kind*>(tokenizer.get());
  if (!found) throw BadData(fmt::format("{} holds {}", what, other));
  if (found->size() > model.spec.vocab)
    throw BadData(fmt::format("{} has {} tokens and the model {} knows {}: they do not belong together", what,
                              found->size(), model.origin, model.spec.vocab));
  if (is_far_smaller(found->size(), model.spec.vocab))
    spdlog::warn(
        "{} has {} tokens and the model {} knows {}: it is cut off or another model's, and what comes of "
        "it is noise",
        what, found->size(), model.origin, model.spec.vocab);
  tokenizer.release();
  return std::unique_ptr<const Kind>(found);
}

}  // namespace

std::unique_ptr<const WordPieceTokenizer> tokenizer_of(const SourceModel& model) {
  auto wordpiece =
      load_kind<WordPieceTokenizer>(model, model.tokenizer,
                                    "vocabulary beside it; say with --vocab where it is, or with --data "
                                    "where the paths of a checkpoint's spec begin",
                                    "byte pairs, and a BERT needs WordPiece; see --vocab");
  const SpecialTokens& special = wordpiece->special();
  for (const std::int32_t id : {special.pad, special.classify, special.separator, special.mask})
    if (id < 0)
      throw BadData(model.tokenizer.what + " lacks one of [PAD], [CLS], [SEP] and [MASK]; see --vocab");
  return wordpiece;
}

std::unique_ptr<const BpeTokenizer> byte_pairs_of(const SourceModel& model, const std::string& given) {
  return load_kind<BpeTokenizer>(
      model, given.empty() ? model.tokenizer : TokenizerSource{given},
      "tokenizer beside it; say with --tokenizer where it is, or with --data where the paths of a "
      "checkpoint's spec begin",
      "WordPiece, and text is generated with byte pairs");
}

}  // namespace podium
