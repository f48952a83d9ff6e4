// podium-worker predict: answers questions from their contexts.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.h"
#include "worker/checkpoint/manifest.h"
#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/output.h"
#include "worker/data/failure.h"
#include "worker/infer/span_inference.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"
#include "worker/tasks/squad/squad_task.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr char kPredictExamples[] = R"(
Examples:
  podium-worker predict checkpoints/step-00005000 --question 'Who won?' --context 'The Denver Broncos won the game.'
  podium-worker predict bert-large-squad --jsonl questions.jsonl --json > answers.jsonl
  podium-worker predict bert-large-squad --squad dev-v1.1.json --out answers --gpu

The model is a checkpoint of the task squad or a Hugging Face folder of BertForQuestionAnswering. A line of --jsonl is an
object with "question" and "context", and maybe an "id"; blank lines are passed over. --squad writes predictions.json,
nbest_predictions.json and, of SQuAD 2.0 or with --may-be-none, null_odds.json, for podium-worker score. Lengths and rules
are those of the checkpoint's spec, else run_squad.py's.)";

constexpr int kUsualLength = 384;
constexpr std::size_t kQuestionsTogether = 256;

struct PredictArguments {
  ModelArguments model;
  ComputeArguments compute;
  std::string question, context, jsonl;
  fs::path squad, out;
  std::optional<int> length, stride, query_length, answer_length, n_best;
  std::optional<double> null_threshold;
  bool may_be_none = false;
  int batch = 16;
  int best = 1;
  bool json = false;
};

struct Rules {
  FeatureShape shape;
  AnswerRules answers;
};

Rules rules_of(const PredictArguments& arguments, const SourceModel& model) {
  TrainingSpec training;
  training.sequence_length = std::min(kUsualLength, model.spec.max_positions);
  SquadAnswerSpec answers;
  if (fs::exists(arguments.model.model / kManifestName)) {
    const JobSpec spec = read_manifest(arguments.model.model).state.spec;
    training = training_phases(spec.training).back().training;
    answers = spec.evaluate.squad;
  }
  FeatureShape shape = feature_shape(training);
  shape.sequence_length = arguments.length.value_or(shape.sequence_length);
  shape.document_stride = arguments.stride.value_or(shape.document_stride);
  shape.query_length = arguments.query_length.value_or(shape.query_length);
  answers.answer_length = arguments.answer_length.value_or(answers.answer_length);
  answers.n_best = std::max(arguments.n_best.value_or(answers.n_best), arguments.best);
  answers.null_threshold = arguments.null_threshold.value_or(answers.null_threshold);
  if (shape.sequence_length > model.spec.max_positions)
    refuse_spec(fmt::format("--length {} must lie within the model's {} positions", shape.sequence_length,
                            model.spec.max_positions));
  if (shape.sequence_length <= shape.query_length + kSquadSpecialTokens)
    refuse_spec(
        fmt::format("--length {} leaves no room for a context behind --query-length {} and {} special "
                    "tokens",
                    shape.sequence_length, shape.query_length, kSquadSpecialTokens));
  return {shape, answer_rules(answers, arguments.may_be_none)};
}

// A model that answers.
class Predictor {
 public:
  explicit Predictor(const PredictArguments& arguments)
      : batch_(static_cast<std::size_t>(arguments.batch)),
        model_(read_model(arguments.model)),
        tokenizer_(tokenizer_of(model_)),
        rules_(rules_of(arguments, model_)),
        compute_(arguments.compute),
        weights_(make_bert_weights(compute_.context, model_,
                                   {.precision = precision_of(arguments.compute, model_)})),
        inference_(compute_.context, weights_, tokenizer_->special()) {
    if (!weights_.span)
      throw BadData(model_.origin +
                    " has no head that answers questions; podium-worker infer does what other models do");
  }

  std::vector<SquadAnswers> answer(const SquadData& data) {
    SquadText text;
    Reading reading;
    text.add_questions(data, *tokenizer_, reading);
    const SquadFeatures features(text, rules_.shape);
    const std::vector<FeatureScores> scores = scores_of(features);
    std::vector<SquadAnswers> answers;
    for (std::int64_t q = 0; q < std::ssize(text.questions()); ++q) {
      const auto first = static_cast<std::size_t>(features.first_of(q)),
                 count = static_cast<std::size_t>(features.first_of(q + 1)) - first;
      answers.push_back(
          answer_question(features, q, std::span(scores).subspan(first, count), rules_.answers));
    }
    return answers;
  }

  double sequences_per_second() const { return static_cast<double>(sequences_) / seconds_; }
  std::int64_t sequences() const { return sequences_; }

 private:
  TextSequence sequence_of(const SquadFeatures& features, std::int64_t feature) const {
    TextSequence sequence;
    const std::int32_t before = features.append(feature, tokenizer_->special(), sequence.ids);
    sequence.types.assign(sequence.ids.size(), 1);
    std::fill_n(sequence.types.begin(), before, 0);
    return sequence;
  }

  std::vector<FeatureScores> scores_of(const SquadFeatures& features) {
    const auto begin = std::chrono::steady_clock::now();
    const int n_best = std::min(rules_.answers.n_best, rules_.shape.sequence_length);
    std::vector<FeatureScores> scores;
    std::vector<double> numbers;
    for (std::int64_t first = 0; first < features.size(); first += static_cast<std::int64_t>(batch_)) {
      std::vector<TextSequence> together;
      for (std::int64_t f = first; f < features.size() && together.size() < batch_; ++f)
        together.push_back(sequence_of(features, f));
      for (const std::vector<float>& logits : inference_.run(together)) {
        numbers.assign(FeatureScores::count(n_best), 0.0);
        FeatureScores::write(logits, n_best, numbers);
        scores.emplace_back(numbers);
      }
    }
    sequences_ += features.size();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return scores;
  }

  std::size_t batch_;
  SourceModel model_;
  std::unique_ptr<const WordPieceTokenizer> tokenizer_;
  Rules rules_;
  Compute compute_;
  BertWeights weights_;
  SpanInference inference_;
  std::int64_t sequences_ = 0;
  double seconds_ = 0;
};

double probability_of(const SquadAnswers& answers) {
  const auto found = std::ranges::find(answers.best, answers.answer, &ScoredAnswer::text);
  return found == answers.best.end() ? 0 : found->probability;
}

// Tabs and line ends would break the line that it is a field of.
std::string in_a_field(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= '\t' && c <= '\r'; }, ' ');
  return text;
}

void print(const std::string& id, const SquadAnswers& answers, const PredictArguments& arguments) {
  if (!arguments.json) {
    print_output(fmt::format("{}{}\t{:.4f}\n", id.empty() ? "" : in_a_field(id) + "\t",
                             answers.answer.empty() ? "(none)" : in_a_field(answers.answer),
                             probability_of(answers)));
    return;
  }
  ordered_json out;
  if (!id.empty()) out["id"] = id;
  out["answer"] = answers.answer;
  out["probability"] = probability_of(answers);
  if (arguments.may_be_none) out["null_odds"] = answers.null_odds;
  out["best"] = ordered_json::array();
  for (std::size_t i = 0; i < std::min(answers.best.size(), static_cast<std::size_t>(arguments.best)); ++i)
    out["best"].push_back({{"text", answers.best[i].text},
                           {"probability", answers.best[i].probability},
                           {"start_logit", answers.best[i].first},
                           {"end_logit", answers.best[i].last}});
  print_output(out.dump() + "\n");
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

SquadParagraph paragraph_of(std::string_view line, const std::string& origin) {
  try {
    const nlohmann::json object = nlohmann::json::parse(line);
    SquadQuestion question{.text = object.at("question").get<std::string>()};
    if (object.contains("id"))
      question.id = object["id"].is_string() ? object["id"].get<std::string>() : object["id"].dump();
    return {object.at("context").get<std::string>(), {question}};
  } catch (const nlohmann::json::exception& error) {
    throw BadData(origin + ": no JSON object with a text \"question\" and \"context\": " + error.what());
  }
}

void answer_and_print(Predictor& predictor, SquadData& data, const PredictArguments& arguments) {
  const std::vector<SquadAnswers> answers = predictor.answer(data);
  for (std::size_t i = 0; i < answers.size(); ++i)
    print(data.paragraphs[i].questions.front().id, answers[i], arguments);
  data.paragraphs.clear();
}

void answer_lines(Predictor& predictor, const PredictArguments& arguments) {
  SquadData data;
  std::int64_t number = 0;
  const bool pipe = arguments.jsonl == "-";
  const std::string name = pipe ? "standard input" : arguments.jsonl;
  const auto add = [&](std::string_view line) {
    ++number;
    if (is_blank(line)) return;
    data.paragraphs.push_back(paragraph_of(line, fmt::format("{}:{}", name, number)));
    if (data.paragraphs.size() == kQuestionsTogether) answer_and_print(predictor, data, arguments);
  };
  const Fd file = pipe ? Fd() : open_text(arguments.jsonl);
  for_each_line(pipe ? STDIN_FILENO : file.get(), name, add);
  answer_and_print(predictor, data, arguments);
}

void make_writable_folder(const fs::path& folder) {
  fs::create_directories(folder);
  if (::access(folder.c_str(), W_OK) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write into " + folder.string());
}

void answer_squad(Predictor& predictor, const SquadData& data, const PredictArguments& arguments) {
  write_or_fail([&] { make_writable_folder(arguments.out); });
  std::vector<std::string> ids;
  for (const SquadParagraph& paragraph : data.paragraphs)
    for (const SquadQuestion& question : paragraph.questions) ids.push_back(question.id);
  const AnswerFiles files = answer_files(ids, predictor.answer(data));
  write_or_fail([&] {
    write_file_atomic(arguments.out / "predictions.json", files.predictions);
    write_file_atomic(arguments.out / "nbest_predictions.json", files.n_best);
    if (arguments.may_be_none) write_file_atomic(arguments.out / "null_odds.json", files.null_odds);
  });
}

void predict(PredictArguments arguments) {
  const bool one = !arguments.question.empty() || !arguments.context.empty();
  if (one + !arguments.jsonl.empty() + !arguments.squad.empty() != 1 ||
      arguments.question.empty() != arguments.context.empty())
    refuse_spec("give --question with --context, or --jsonl, or --squad");
  for (const std::string& text : {arguments.question, arguments.context})
    if (find_invalid_utf8(text) != std::string::npos) throw BadData("--question or --context is no UTF-8");
  SquadData squad;
  if (!arguments.squad.empty()) squad = read_squad(arguments.squad);
  arguments.may_be_none |= squad.version2;
  if (arguments.null_threshold && !arguments.may_be_none)
    refuse_spec("--null-threshold is for questions that may have no answer: add --may-be-none");
  if (std::isnan(arguments.null_threshold.value_or(0))) refuse_spec("--null-threshold is no number");
  Predictor predictor(arguments);
  if (one) {
    SquadData data{.paragraphs = {{arguments.context, {{.text = arguments.question}}}}};
    return answer_and_print(predictor, data, arguments);
  }
  if (arguments.squad.empty())
    answer_lines(predictor, arguments);
  else
    answer_squad(predictor, squad, arguments);
  fmt::print(stderr, "{} sequences, {:.4g} a second\n", predictor.sequences(),
             predictor.sequences_per_second());
}

void add_rule_options(CLI::App& command, PredictArguments& arguments) {
  command.add_option("--length", arguments.length, "Tokens of a sequence")->check(CLI::PositiveNumber);
  command.add_option("--document-stride", arguments.stride, "Tokens from one span of a context to the next")
      ->check(CLI::PositiveNumber);
  command.add_option("--query-length", arguments.query_length, "Most tokens of a question")
      ->check(CLI::PositiveNumber);
  command.add_option("--answer-length", arguments.answer_length, "Most tokens of an answer")
      ->check(CLI::PositiveNumber);
  command.add_option("--n-best", arguments.n_best, "First and last tokens that compete in a span")
      ->check(CLI::PositiveNumber);
  command.add_flag("--may-be-none", arguments.may_be_none,
                   "A question may have no answer, as in SQuAD 2.0, for whose files this is so anyway");
  command.add_option(
      "--null-threshold", arguments.null_threshold,
      "Where a question may have no answer: it has none if that scores so much higher than the best text");
}

}  // namespace

void add_predict(CLI::App& app) {
  const auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand("predict", "Answer questions from their contexts");
  command->footer(kPredictExamples);
  add_model_arguments(*command, arguments->model);
  add_compute_arguments(*command, arguments->compute);
  command->add_option("--question", arguments->question, "One question");
  command->add_option("--context", arguments->context, "The text that holds its answer");
  command->add_option("--jsonl", arguments->jsonl,
                      "File of questions with contexts, or - for standard input");
  CLI::Option* out = command->add_option("--out", arguments->out, "Folder for the answers to --squad");
  CLI::Option* squad = command->add_option("--squad", arguments->squad, "SQuAD's JSON")->needs(out);
  out->needs(squad);
  add_rule_options(*command, *arguments);
  command->add_option("--batch", arguments->batch, "Sequences computed together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--best", arguments->best, "With --json: so many of the best answers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One object a line");
  command->callback([command, arguments] {
    for (const char* const name : {"--question", "--context"})
      if (command->count(name) > 0 && is_blank((*command)[name]->as<std::string>()))
        refuse_spec(std::string(name) + " is empty");
    predict(*arguments);
  });
}

}  // namespace podium
