// podium-worker calibrate: makes an 8-bit model of a trained one.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/formats/new_folder.h"
#include "worker/infer/calibration.h"
#include "worker/infer/quantised_folder.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kCalibrateExamples[] = R"(
Examples:
  podium-worker calibrate bert-base-uncased --text 'corpus/*.txt' --out bert-base-int8
  podium-worker calibrate checkpoints/step-00000200 --data . --format fp8 --text heldout.txt --out model-fp8 --gpu
  podium-worker calibrate model --sparse --text 'corpus/*.txt' --out model-int8-sparse
  podium-worker calibrate podium-run/checkpoints --data . --out trained-int8

Use text like that of the task. int8 cuts inputs at a percentile of their magnitudes, fp8 takes the largest. The loss of
accuracy is measured on the last fifth of the text. --sparse prunes to 2:4 by magnitude, which costs much of a model's
accuracy unless it was trained with training.sparse: then nothing is lost. A checkpoint of a training with
training.quantise has ranges and a format of its own, and text, where it is given, only measures.)";

struct CalibrateArguments {
  ModelArguments model;
  ComputeArguments compute;
  std::vector<std::string> text;
  fs::path out;
  std::string format;  // "": that of the training, else int8
  bool sparse = false;
  double percentile = 99.99;
  std::size_t sequences = 320;
  int length = 128;
  int batch = 8;
  bool json = false;
};

struct Outcome {
  std::size_t calibrated = 0, compared = 0;  // sequences; of trained ranges none are calibrated with
  Agreement agreement;
};

double percentile_of(const CalibrateArguments& arguments) {
  return arguments.format == "fp8" ? 1.0 : arguments.percentile / 100;
}

bool trained_sparse(const SourceModel& model) {
  return model.checkpoint && model.checkpoint->state.spec.training.sparse != Sparsity::none;
}

json calibration_json(const CalibrateArguments& arguments, const Outcome& outcome) {
  json told{{"ranges", outcome.calibrated == 0 ? "training" : "text"}};
  if (outcome.calibrated > 0) {
    told["sequences"] = outcome.calibrated;
    told["percentile"] = 100 * percentile_of(arguments);
  }
  if (outcome.compared == 0) return told;
  const Agreement& agreement = outcome.agreement;
  told.update({{"text", arguments.text},
               {"length", arguments.length},
               {"compared_sequences", outcome.compared},
               {"compared_masks", agreement.masks},
               {"same_choice", agreement.same_choice},
               {"accuracy_before", agreement.accuracy_before},
               {"accuracy_after", agreement.accuracy_after},
               {"embedding_error", agreement.embedding_error}});
  return told;
}

std::string comparison_text(const Outcome& outcome) {
  const Agreement& agreement = outcome.agreement;
  std::string text;
  if (agreement.masks > 0)
    text += fmt::format(
        "  of {} masked tokens {:.1f} % get the same prediction as before; {:.1f} % are right, {:.1f} % "
        "before\n",
        agreement.masks, 100 * agreement.same_choice, 100 * agreement.accuracy_after,
        100 * agreement.accuracy_before);
  return text + fmt::format("  embeddings differ by {:.2f} %\n", 100 * agreement.embedding_error);
}

std::string outcome_text(const CalibrateArguments& arguments, const SourceModel& model,
                         const SourceModel& quantised, const Outcome& outcome) {
  std::string text =
      fmt::format("{} {}{}: ranges from {}{}\n", arguments.out.string(), to_string(*quantised.quantised_to),
                  arguments.sparse ? ", 2:4 sparse" : "",
                  outcome.calibrated == 0 ? "the training" : fmt::format("{} sequences", outcome.calibrated),
                  outcome.compared == 0 ? ""
                                        : fmt::format(", compared on {}{}", outcome.compared,
                                                      outcome.calibrated == 0 ? " sequences" : " others"));
  if (outcome.compared > 0) text += comparison_text(outcome);
  if (arguments.sparse && !trained_sparse(model))
    text += "  pruned weights need training on: expect the accuracy above, not the model's own\n";
  return text;
}

// Where there is too little text for two parts, both are all of it.
std::pair<std::span<const MaskedSequence>, std::span<const MaskedSequence>> parts_of(
    std::span<const MaskedSequence> text) {
  if (text.size() < 5) return {text, text};
  const std::size_t kept = text.size() - text.size() / 5;
  return {text.first(kept), text.subspan(kept)};
}

void check_model(const CalibrateArguments& arguments, const SourceModel& model) {
  if (model.quantised_to)
    throw BadData(model.origin + " is quantised already; calibrate the model that it was made of");
  if (!arguments.text.empty() && arguments.length > model.spec.max_positions)
    throw BadData(fmt::format("--length {}: {} has {} positions", arguments.length, model.origin,
                              model.spec.max_positions));
  const QuantisedInputs trained = trained_inputs(model);
  if (trained.ranges.empty() && arguments.text.empty())
    throw BadData(model.origin +
                  " was not trained with training.quantise and has no ranges: give it text "
                  "with --text 'corpus/*.txt'");
  if (!trained.ranges.empty() && !arguments.format.empty() && arguments.format != to_string(trained.format))
    throw BadData(fmt::format("--format {}: {} was trained for {}; leave --format out", arguments.format,
                              model.origin, to_string(trained.format)));
  if (arguments.sparse && !can_be_sparse(model.spec))
    throw BadData(model.origin + ": 2:4 sparsity needs hidden and intermediate sizes of multiples of 8");
}

// Pruning changes what products are given: the ranges are those of the pruned model.
SourceModel by_text(const CalibrateArguments& arguments, Compute& compute, const SourceModel& model,
                    const SpecialTokens& special, std::span<const MaskedSequence> text) {
  const QuantisationChoice choice{
      inference_precision_from(arguments.format.empty() ? "int8" : arguments.format), arguments.sparse,
      percentile_of(arguments)};
  BertWeights observed =
      make_bert_weights(compute.context, model, {precision_of(arguments.compute, model), choice.sparse});
  TextInference observing(compute.context, observed, special);
  return quantise_model(model, observe_inputs(compute.context, observing, text, arguments.batch), choice);
}

Agreement agreement_of(const CalibrateArguments& arguments, Compute& compute, const SourceModel& model,
                       const SourceModel& quantised, const SpecialTokens& special,
                       std::span<const MaskedSequence> text) {
  BertWeights before =
      make_bert_weights(compute.context, model, {.precision = precision_of(arguments.compute, model)});
  BertWeights after = make_bert_weights(compute.context, quantised, {.precision = *quantised.quantised_to});
  TextInference dense(compute.context, before, special), eight_bits(compute.context, after, special);
  return compare_models(dense, eight_bits, text, arguments.batch);
}

SourceModel with_text(const CalibrateArguments& arguments, const SourceModel& model, Outcome& outcome) {
  const std::unique_ptr<const WordPieceTokenizer> tokenizer = tokenizer_of(model);
  const std::vector<MaskedSequence> text =
      read_masked_text(arguments.text, *tokenizer, arguments.length, arguments.sequences);
  const bool trained = !trained_inputs(model).ranges.empty();
  const auto [calibrating, comparing] =
      trained ? std::pair(std::span<const MaskedSequence>(), std::span<const MaskedSequence>(text))
              : parts_of(text);
  Compute compute(arguments.compute);
  SourceModel quantised = trained ? quantise_trained(model, arguments.sparse)
                                  : by_text(arguments, compute, model, tokenizer->special(), calibrating);
  outcome = {calibrating.size(), comparing.size(),
             agreement_of(arguments, compute, model, quantised, tokenizer->special(), comparing)};
  return quantised;
}

void run_calibrate(const CalibrateArguments& arguments) {
  const SourceModel model = read_model(arguments.model);
  check_model(arguments, model);
  NewFolder folder(arguments.out);
  Outcome outcome;
  const SourceModel quantised = arguments.text.empty() ? quantise_trained(model, arguments.sparse)
                                                       : with_text(arguments, model, outcome);
  const json told = calibration_json(arguments, outcome);
  write_or_fail([&] {
    write_quantised_folder(folder.unfinished(), quantised, told);
    folder.finish();
  });
  fmt::print("{}", arguments.json ? told.dump() + "\n" : outcome_text(arguments, model, quantised, outcome));
}

}  // namespace

void add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand("calibrate", "Make an 8-bit model for inference of a trained one");
  command->footer(kCalibrateExamples);
  add_model_arguments(*command, arguments->model);
  add_device_arguments(*command, arguments->compute);
  command->add_option("--text", arguments->text, "Text files or globs to calibrate with");
  command->add_option("--out", arguments->out, "Folder to make, or an empty one")->required();
  command->add_option("--format", arguments->format, "int8 or fp8; the training's, or int8")
      ->check(CLI::IsMember({"int8", "fp8"}));
  command->add_flag("--sparse", arguments->sparse, "Prune the encoder's products to 2:4");
  command
      ->add_option("--percentile", arguments->percentile,
                   "int8: of an input's magnitudes; larger values saturate")
      ->check(CLI::Range(90.0, 100.0))
      ->capture_default_str();
  command->add_option("--sequences", arguments->sequences, "Sequences to take of the text")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--length", arguments->length, "Tokens of each")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch, "Sequences computed together")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "As one JSON object");
  command->callback([arguments] { run_calibrate(*arguments); });
}

}  // namespace podium
