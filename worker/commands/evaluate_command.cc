// podium-worker evaluate: the published measures of a trained model.
#include <omp.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/signals.h"
#include "worker/commands/tokenizer_argument.h"
#include "worker/data/data_files.h"
#include "worker/data/failure.h"
#include "worker/evaluate/evaluate.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/train/event_log.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kEvaluateExamples[] = R"(
Examples:
  podium-worker evaluate gpt2 --wikitext wiki.test.tokens                   # perplexity by word, overlapping windows
  podium-worker evaluate checkpoints/step-00002000 --wikitext wiki.test.tokens --window 256 --stride 64 --gpu
  podium-worker evaluate gpt2 --lambada lambada_test.jsonl                  # is the last word right?
  podium-worker evaluate bert-base-uncased --masked heldout.txt --json      # masked tokens, and next sentences

A model is a Hugging Face folder or a checkpoint. --wikitext takes WikiText's tokenised form and measures as Megatron-LM
does: on plain text, by the words of the tokenised one. --lambada takes lines of JSON objects with a "text", and counts a
passage as right where every token of its last word is the likeliest. --masked draws held-out samples as the checkpoint's
job does, whose figures it gives.)";

struct EvaluateArguments {
  fs::path model;
  fs::path data = ".";
  std::string tokenizer;
  bool cased = false;
  fs::path wikitext;
  fs::path lambada;
  std::vector<std::string> masked;
  WindowRule window{0, 32};
  std::optional<int> length;  // of masked sequences
  std::optional<std::int64_t> sequences;
  int batch = 8;
  Precision precision = Precision::fp32;
  ComputeArguments compute;
  bool json = false;
};

std::unique_ptr<const Tokenizer> tokenizer_of(const EvaluateArguments& arguments, const TrainedModel& model) {
  auto tokenizer = arguments.tokenizer.empty() && !arguments.cased
                       ? model.load_tokenizer(arguments.data)
                       : load_tokenizer_argument(arguments.tokenizer, arguments.cased);
  if (tokenizer->size() > model.spec().vocab)
    throw BadData(
        fmt::format("the tokenizer has {} tokens and the model {} knows {}: they do not belong together",
                    tokenizer->size(), arguments.model.string(), model.spec().vocab));
  return tokenizer;
}

std::vector<std::string> read_passages(const fs::path& path) {
  std::vector<std::string> passages;
  std::int64_t number = 0;
  for_each_line(path, [&](std::string_view line) {
    ++number;
    if (line.find_first_not_of(" \t") == line.npos) return;
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || !object.contains("text") || !object["text"].is_string())
      throw BadData(
          fmt::format("{}:{}: the line is no JSON object with a string \"text\"", path.string(), number));
    passages.push_back(object["text"]);
  });
  if (passages.empty()) throw BadData(path.string() + " has no passage");
  return passages;
}

void needs(const TrainedModel& model, ModelFamily family, bool bert, const char* option) {
  if ((model.spec().family == family) != bert)
    refuse_spec(fmt::format("{} is for models that predict {}; this is a {} model", option,
                            bert ? "masked tokens" : "the next token", to_string(model.spec().family)));
}

Measures measures_of(const EvaluateArguments& arguments, TrainedModel& model, const OnProgress& progress) {
  needs(model, ModelFamily::bert, !arguments.masked.empty(),
        !arguments.masked.empty()   ? "--masked"
        : arguments.lambada.empty() ? "--wikitext"
                                    : "--lambada");
  const auto tokenizer = tokenizer_of(arguments, model);
  if (!arguments.lambada.empty())
    return evaluate_lambada(model, *tokenizer, read_passages(arguments.lambada), progress);
  if (!arguments.wikitext.empty()) {
    WindowRule rule = arguments.window;
    if (rule.length == 0) rule.length = model.spec().max_positions;
    if (rule.length > model.spec().max_positions || rule.stride > rule.length)
      refuse_spec(
          fmt::format("--window {} and --stride {}: a window has at most the model's {} positions, and a "
                      "stride at most a window",
                      rule.length, rule.stride, model.spec().max_positions));
    const auto* byte_pairs = dynamic_cast<const BpeTokenizer*>(tokenizer.get());
    const std::int32_t pad = byte_pairs ? std::max(0, byte_pairs->vocabulary().end_of_text()) : 0;
    return evaluate_wikitext(model, *tokenizer, read_utf8_input(arguments.wikitext), rule, arguments.batch,
                             pad, progress);
  }
  const auto* wordpiece = dynamic_cast<const WordPieceTokenizer*>(tokenizer.get());
  if (!wordpiece) refuse_spec("--masked needs a WordPiece tokenizer");
  const JobSpec job = model.job().value_or(JobSpec{});
  TrainingSpec training = phase_of(training_phases(job.training), model.step()).training;
  training.sequence_length = arguments.length.value_or(training.sequence_length);
  if (training.sequence_length > model.spec().max_positions)
    refuse_spec(fmt::format("--length {} is beyond the model's {} positions", training.sequence_length,
                            model.spec().max_positions));
  Reading reading;
  const Corpus corpus = Corpus::read(data_files(arguments.masked, ""), *wordpiece, reading);
  return evaluate_masked(model, *wordpiece, corpus, training,
                         arguments.sequences.value_or(job.evaluate.sequences), arguments.batch, progress);
}

void print_measures(const Measures& measures, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json told;
    for (const auto& [name, value] : measures) told[name] = value;
    fmt::print("{}\n", told.dump());
    return;
  }
  for (const auto& [name, value] : measures) fmt::print("{:<18} {:.8g}\n", name, value);
}

// In a job the measures are its metrics, which its curves and its target go by (docs/your-own-program.md).
void tell_job(const Measures& measures, std::int64_t step) {
  const char* path = std::getenv("PODIUM_EVENTS");
  if (!path) return;
  const SystemClock clock;
  MetricsEvent metrics{step, {}};
  for (const auto& [name, value] : measures) metrics.values.emplace_back("eval/" + name, value);
  EventLog(path, clock).write(std::move(metrics));
}

WorkerExit run_evaluate(const EvaluateArguments& arguments) {
  const int asked = !arguments.wikitext.empty() + !arguments.lambada.empty() + !arguments.masked.empty();
  if (asked != 1) refuse_spec("evaluate measures one thing: give --wikitext, --lambada or --masked");
  const StopSignals signals;
  Compute compute(arguments.compute);
  omp_set_num_threads(compute.context.threads);
  TrainedModel model(compute.context, arguments.model, arguments.precision);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const Measures measures = measures_of(arguments, model, [&](double done) {
    if (signals.stop()) throw Failure(WorkerExit::saved, "stopped; there is nothing to go on from");
    if (terminal) fmt::print(stderr, "\r{:5.1f} %\x1b[K", done * 100);
  });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  print_measures(measures, arguments.json);
  tell_job(measures, model.step());
  return WorkerExit::done;
}

}  // namespace

void add_evaluate(CLI::App& app, WorkerExit& exit) {
  const auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure a model: perplexity by word, last words, masked tokens");
  command->footer(kEvaluateExamples);
  command->add_option("model", arguments->model, "Hugging Face folder, checkpoint, or folder of checkpoints")
      ->required();
  command->add_option("--wikitext", arguments->wikitext, "WikiText in its tokenised form");
  command->add_option("--lambada", arguments->lambada, "Lines of JSON objects with a \"text\"");
  command->add_option("--masked", arguments->masked, "Held-out text, a sentence a line, or prepared data");
  command
      ->add_option("--window", arguments->window.length,
                   "Tokens a window reads (default: the model's positions)")
      ->check(at_least(1));
  command->add_option("--stride", arguments->window.stride, "Tokens a further window predicts")
      ->check(at_least(1))
      ->capture_default_str();
  command
      ->add_option("--length", arguments->length,
                   "Tokens of a masked sequence (default: as the checkpoint's job, else 128)")
      ->check(CLI::Range(5, 1 << 20));
  command
      ->add_option("--sequences", arguments->sequences,
                   "Most masked sequences (default: as the checkpoint's job, else 1024)")
      ->check(at_least(1));
  command->add_option("--batch", arguments->batch, "Sequences computed together")
      ->check(at_least(1))
      ->capture_default_str();
  add_training_precision(*command, arguments->precision);
  command->add_option(
      "--tokenizer", arguments->tokenizer,
      "wordpiece:VOCAB.txt, bpe:VOCAB.json,MERGES.txt or a folder, in place of the model's own");
  command->add_flag("--cased", arguments->cased, "With --tokenizer wordpiece: keep capitals and accents");
  command->add_option("--data", arguments->data, "Folder where the paths of a checkpoint's spec begin")
      ->capture_default_str();
  add_device_arguments(*command, arguments->compute);
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->callback([arguments, &exit] { exit = run_evaluate(*arguments); });
}

}  // namespace podium
