// podium-worker calibrate: makes an 8-bit model of a trained one.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
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

Use text like that of the task. int8 cuts inputs at a percentile of their magnitudes, fp8 takes the largest. The loss of
accuracy is measured on the last fifth of the text. --sparse prunes to 2:4 by magnitude, which costs much of a model's
accuracy unless training continues from the pruned weights.)";

struct CalibrateArguments {
  ModelArguments model;
  ComputeArguments compute;
  std::vector<std::string> text;
  fs::path out;
  std::string format = "int8";
  bool sparse = false;
  double percentile = 99.99;
  std::size_t sequences = 320;
  int length = 128;
  int batch = 8;
  bool json = false;
};

struct Outcome {
  std::size_t calibrated = 0, compared = 0;  // sequences
  Agreement agreement;
};

json calibration_json(const CalibrateArguments& arguments, const QuantisationChoice& choice,
                      const Outcome& outcome) {
  const Agreement& agreement = outcome.agreement;
  return {{"text", arguments.text},
          {"sequences", outcome.calibrated},
          {"length", arguments.length},
          {"percentile", 100 * choice.percentile},
          {"compared_sequences", outcome.compared},
          {"compared_masks", agreement.masks},
          {"same_choice", agreement.same_choice},
          {"accuracy_before", agreement.accuracy_before},
          {"accuracy_after", agreement.accuracy_after},
          {"embedding_error", agreement.embedding_error}};
}

std::string outcome_text(const CalibrateArguments& arguments, const Outcome& outcome) {
  const Agreement& agreement = outcome.agreement;
  std::string text = fmt::format(
      "{} {}{}: ranges from {} sequences, compared on {} others\n", arguments.out.string(), arguments.format,
      arguments.sparse ? ", 2:4 sparse" : "", outcome.calibrated, outcome.compared);
  if (agreement.masks > 0)
    text += fmt::format(
        "  of {} masked tokens {:.1f} % get the same prediction as before; {:.1f} % are right, {:.1f} % "
        "before\n",
        agreement.masks, 100 * agreement.same_choice, 100 * agreement.accuracy_after,
        100 * agreement.accuracy_before);
  text += fmt::format("  embeddings differ by {:.2f} %\n", 100 * agreement.embedding_error);
  if (arguments.sparse)
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
  if (arguments.length > model.spec.max_positions)
    throw BadData(fmt::format("--length {}: {} has {} positions", arguments.length, model.origin,
                              model.spec.max_positions));
}

void run_calibrate(const CalibrateArguments& arguments) {
  const SourceModel model = read_model(arguments.model);
  check_model(arguments, model);
  const std::unique_ptr<const WordPieceTokenizer> tokenizer = tokenizer_of(model);
  const SpecialTokens& special = tokenizer->special();
  const std::vector<MaskedSequence> text =
      read_masked_text(arguments.text, *tokenizer, arguments.length, arguments.sequences);
  const auto [calibrating, comparing] = parts_of(text);
  const QuantisationChoice choice{inference_precision_from(arguments.format), arguments.sparse,
                                  arguments.format == "int8" ? arguments.percentile / 100 : 1.0};
  Compute compute(arguments.compute);
  const InferencePrecision exact = precision_of(arguments.compute, model);

  BertWeights before = make_bert_weights(compute.context, model, {.precision = exact});
  TextInference dense(compute.context, before, special);
  // Pruning changes what products are given: the ranges are those of the pruned model.
  BertWeights observed = make_bert_weights(compute.context, model, {exact, choice.sparse});
  TextInference observing(compute.context, observed, special);
  const InputRanges ranges = observe_inputs(compute.context, observing, calibrating, arguments.batch);
  const SourceModel quantised = quantise_model(model, ranges, choice);
  BertWeights after = make_bert_weights(compute.context, quantised, {.precision = choice.precision});
  TextInference eight_bits(compute.context, after, special);
  const Outcome outcome{calibrating.size(), comparing.size(),
                        compare_models(dense, eight_bits, comparing, arguments.batch)};
  const json told = calibration_json(arguments, choice, outcome);
  write_quantised_folder(arguments.out, quantised, told);
  fmt::print("{}", arguments.json ? told.dump() + "\n" : outcome_text(arguments, outcome));
}

}  // namespace

void add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand("calibrate", "Make an 8-bit model for inference of a trained one");
  command->footer(kCalibrateExamples);
  add_model_arguments(*command, arguments->model);
  add_device_arguments(*command, arguments->compute);
  command->add_option("--text", arguments->text, "Text files or globs to calibrate with")->required();
  command->add_option("--out", arguments->out, "Folder to make")->required();
  command->add_option("--format", arguments->format, "int8 or fp8")
      ->check(CLI::IsMember({"int8", "fp8"}))
      ->capture_default_str();
  command->add_flag("--sparse", arguments->sparse, "Prune the encoder's products to 2:4");
  command
      ->add_option("--percentile", arguments->percentile,
                   "int8: of an input's magnitudes; larger values saturate")
      ->check(CLI::Range(90.0, 100.0))
      ->capture_default_str();
  command->add_option("--sequences", arguments->sequences, "Sequences to take of the text")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--length", arguments->length, "Tokens of each")
      ->check(CLI::Range(8, 1 << 20))
      ->capture_default_str();
  command->add_option("--batch", arguments->batch, "Sequences computed together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "As one JSON object");
  command->callback([arguments] { run_calibrate(*arguments); });
}

}  // namespace podium
