// podium-worker predict: asks a trained model what its head was trained for.
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "worker/commands/commands.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/predict/prediction.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

constexpr char kPredictExamples[] = R"(
Examples:
  podium-worker predict bert-base-uncased --mask 'The capital of France is [MASK].' --top 3
  podium-worker predict bert-base-uncased --sentence 'He opened the door.' --next 'It was cold outside.'
  podium-worker predict checkpoints/step-00005000 --question 'Who won?' --context 'The Denver Broncos won the game.'
  podium-worker predict checkpoints/step-00000802 --text 'They drank the pub.'
  podium-worker predict bert-mnli --text 'A man sleeps.' --pair 'Nobody is awake.' --json
  podium-worker predict checkpoints/step-00000802 --file cola/out_of_domain_dev.tsv
  podium-worker predict bert-large-squad --jsonl questions.jsonl --json > answers.jsonl
  podium-worker predict bert-large-squad --squad dev-v1.1.json --out answers --gpu

The model is a checkpoint, a Hugging Face folder or what podium-worker calibrate makes of one. A line of --jsonl is an object
with what the model's head takes, and maybe an "id", and nothing else; blank lines are passed over:
  {"text": "The capital of France is [MASK]."}       a head of pre-training: BertForPreTraining, BertForMaskedLM
  {"sentence": "He opened the door.", "next": "It was cold outside."}       that of BertForPreTraining
  {"text": "A man sleeps.", "pair": "Nobody is awake."}    the task classify, BertForSequenceClassification; the pair may lack
  {"question": "Who won?", "context": "The Denver Broncos won the game."}   the task squad, BertForQuestionAnswering
--squad writes predictions.json, nbest_predictions.json and, of SQuAD 2.0 or with --may-be-none, null_odds.json, for
podium-worker score. --file is a table, as the task classify reads it: its columns and the tokens of a sequence are those of
the checkpoint's spec, else "sentence" and the model's positions. Lengths and rules of questions are those of the checkpoint's spec, else run_squad.py's.)";

struct PredictCommand {
  PredictArguments arguments;
  struct Kind {
    std::unique_ptr<Prediction> prediction;
    CLI::App* options = nullptr;
  };
  std::vector<Kind> kinds;
};

std::string abilities(const PredictCommand& command, const BertWeights& weights) {
  std::vector<std::string_view> found;
  for (const auto& [prediction, options] : command.kinds)
    if (prediction->suits(weights)) found.push_back(prediction->ability());
  if (found.empty()) return "it has none that predicts; podium-worker infer writes embeddings";
  return fmt::format("it {}", fmt::join(found, " and "));
}

// That whose own options say what to predict; nullptr: --jsonl does.
const PredictCommand::Kind* find_asked(const PredictCommand& command) {
  const PredictCommand::Kind* asked = nullptr;
  int count = command.arguments.jsonl.empty() ? 0 : 1;
  for (const PredictCommand::Kind& kind : command.kinds) {
    if (!kind.prediction->is_asked()) continue;
    asked = &kind;
    ++count;
  }
  if (count != 1)
    refuse_spec(
        "say one thing to predict: --mask, --sentence with --next, --text, --file, --question with "
        "--context, --squad or --jsonl");
  return asked;
}

const PredictCommand::Kind& kind_of(const PredictCommand& command, const PredictModel& model,
                                    const PredictCommand::Kind* asked) {
  const auto suits = [&](const auto& kind) { return kind.prediction->suits(model.weights); };
  if (asked != nullptr && !suits(*asked))
    throw BadData(fmt::format("{} has no head that {}: {}", model.source.origin, asked->prediction->ability(),
                              abilities(command, model.weights)));
  if (asked != nullptr) return *asked;
  const auto found = std::ranges::find_if(command.kinds, suits);
  if (found == command.kinds.end())
    throw BadData(fmt::format("{} has no head: {}", model.source.origin, abilities(command, model.weights)));
  return *found;
}

void refuse_options_of_others(const PredictCommand& command, const PredictCommand::Kind& chosen) {
  for (const PredictCommand::Kind& kind : command.kinds)
    for (const CLI::Option* option : kind.options->get_options())
      if (&kind != &chosen && option->count() > 0)
        refuse_spec(fmt::format("{} is for a model that {}, and not for one that {}", option->get_name(),
                                kind.prediction->ability(), chosen.prediction->ability()));
}

void predict(const PredictCommand& command) {
  const PredictCommand::Kind* const asked = find_asked(command);
  if (asked != nullptr) refuse_options_of_others(command, *asked);
  PredictModel model(command.arguments);
  const PredictCommand::Kind& kind = kind_of(command, model, asked);
  refuse_options_of_others(command, kind);
  kind.prediction->run(command.arguments, model);
}

}  // namespace

void add_predict(CLI::App& app) {
  const auto predicting = std::make_shared<PredictCommand>();
  PredictArguments& arguments = predicting->arguments;
  CLI::App* command = app.add_subcommand(
      "predict", "Ask a model what it was trained for: answers, classes, masked tokens, pairs");
  command->footer(kPredictExamples);
  add_model_arguments(*command, arguments.model);
  add_compute_arguments(*command, arguments.compute);
  command->add_option("--jsonl", arguments.jsonl, "File of objects to predict, or - for standard input");
  command->add_option("--batch", arguments.batch, "Sequences computed together")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_flag("--truncate", arguments.truncate,
                    "Cut texts that are longer than the model's positions; the contexts of questions may be");
  command->add_flag("--json", arguments.json, "One object a line");
  for (auto* const make : {make_text_prediction, make_class_prediction, make_question_prediction}) {
    std::unique_ptr<Prediction> prediction = make();
    CLI::App* options = command->add_option_group(fmt::format("Of a model that {}", prediction->ability()));
    prediction->add_options(*options);
    predicting->kinds.push_back({std::move(prediction), options});
  }
  command->callback([predicting] { predict(*predicting); });
}

}  // namespace podium
