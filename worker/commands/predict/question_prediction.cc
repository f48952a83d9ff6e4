// Questions, answered from their contexts: of the command line, of lines of JSON, or of SQuAD's files.
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.h"
#include "worker/ask/questions.h"
#include "worker/commands/json_lines.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/commands/predict/prediction.h"
#include "worker/commands/predict/question_answerer.h"
#include "worker/data/failure.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kQuestionsTogether = 256;

struct QuestionOptions {
  std::optional<std::string> question, context;
  fs::path squad, out;
  std::optional<int> length, stride, query_length, answer_length, n_best;
  std::optional<double> null_threshold;
  bool may_be_none = false;
  int best = 1;
};

// Those of the checkpoint's spec, else run_squad.py's, where the options do not say otherwise.
QuestionRules rules_of(const QuestionOptions& options, const SourceModel& source) {
  const ModelSpec& model = source.spec;
  QuestionRules rules = question_rules(source.checkpoint, model.max_positions);
  FeatureShape& shape = rules.shape;
  AnswerRules& answers = rules.answers;
  shape.sequence_length = options.length.value_or(shape.sequence_length);
  shape.document_stride = options.stride.value_or(shape.document_stride);
  shape.query_length = options.query_length.value_or(shape.query_length);
  answers.answer_length = options.answer_length.value_or(answers.answer_length);
  answers.n_best = std::max(options.n_best.value_or(answers.n_best), options.best);
  answers.null_threshold = options.null_threshold.value_or(answers.null_threshold);
  if (shape.sequence_length > model.max_positions)
    refuse_spec(fmt::format("--length {} must lie within the model's {} positions", shape.sequence_length,
                            model.max_positions));
  if (shape.sequence_length <= shape.query_length + kSquadSpecialTokens)
    refuse_spec(
        fmt::format("--length {} leaves no room for a context behind --query-length {} and {} special "
                    "tokens",
                    shape.sequence_length, shape.query_length, kSquadSpecialTokens));
  answers.may_be_none = options.may_be_none;
  return rules;
}

// A question of the command line or of a line of JSON.
struct OneQuestion {
  LineId id;
  std::string origin, question, context;
};

OneQuestion question_asked_by(const JsonLine& line) {
  OneQuestion asked{line.id(), line.origin(), line.text("question"), line.text("context")};
  line.refuse_others({"question", "context"});
  return asked;
}

std::string question_text(const LineId& id, const SquadAnswers& answers) {
  const std::string before = id_field(id.text());
  if (!answers.has_candidate) return before + "(no answer)\t0.0000\n";
  return fmt::format("{}{}\t{:.4f}\n", before,
                     answers.answer.empty() ? "(none)" : without_controls(answers.answer),
                     probability_of(answers));
}

std::string question_json(const LineId& id, const SquadAnswers& answers, const QuestionOptions& options) {
  nlohmann::ordered_json out;
  id.add_to(out);
  out.update(answer_json(answers, options.may_be_none, options.best));
  return out.dump() + "\n";
}

void make_writable_folder(const fs::path& folder) {
  fs::create_directories(folder);
  if (::access(folder.c_str(), W_OK) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write into " + folder.string());
}

class QuestionPrediction final : public Prediction {
 public:
  std::string_view ability() const override { return "answers questions"; }
  void add_options(CLI::App& options) override;
  bool is_asked() override;
  bool suits(const BertWeights& weights) const override { return weights.span.has_value(); }
  void run(const PredictArguments& arguments, PredictModel& model) override;

 private:
  void add_rule_options(CLI::App& options);
  void answer(QuestionAnswerer& answerer, std::vector<OneQuestion> asked, bool as_json) const;
  void answer_lines(QuestionAnswerer& answerer, const PredictArguments& arguments) const;
  void answer_squad(QuestionAnswerer& answerer) const;

  QuestionOptions options_;
  SquadData squad_;
};

bool QuestionPrediction::is_asked() {
  if (options_.question) check_text("--question", *options_.question);
  if (options_.context) check_text("--context", *options_.context);
  if (options_.question.has_value() != options_.context.has_value() ||
      (options_.question && !options_.squad.empty()))
    refuse_spec("give --question with --context, or --squad");
  if (!options_.squad.empty()) squad_ = read_squad(options_.squad);
  options_.may_be_none |= squad_.version2;
  if (options_.null_threshold && !options_.may_be_none)
    refuse_spec("--null-threshold is for questions that may have no answer: add --may-be-none");
  if (std::isnan(options_.null_threshold.value_or(0))) refuse_spec("--null-threshold is no number");
  return options_.question || !options_.squad.empty();
}

void QuestionPrediction::run(const PredictArguments& arguments, PredictModel& model) {
  QuestionAnswerer answerer(model, rules_of(options_, model.source), arguments.batch);
  if (options_.question)
    return answer(answerer, {{{}, "--question", *options_.question, *options_.context}}, arguments.json);
  if (options_.squad.empty())
    answer_lines(answerer, arguments);
  else
    answer_squad(answerer);
  fmt::print(stderr, "{} sequences, {:.4g} a second\n", answerer.sequences(),
             answerer.sequences_per_second());
}

void QuestionPrediction::answer(QuestionAnswerer& answerer, std::vector<OneQuestion> asked,
                                bool as_json) const {
  SquadData data;
  std::vector<std::string> origins;
  for (OneQuestion& one : asked) {
    origins.push_back(one.origin);
    data.paragraphs.push_back({std::move(one.context), {{.text = std::move(one.question)}}});
  }
  const std::vector<SquadAnswers> answers = answerer.answer(data, origins);
  for (std::size_t i = 0; i < answers.size(); ++i)
    print_output(as_json ? question_json(asked[i].id, answers[i], options_)
                         : question_text(asked[i].id, answers[i]));
}

void QuestionPrediction::answer_lines(QuestionAnswerer& answerer, const PredictArguments& arguments) const {
  for_each_group(arguments.jsonl, kQuestionsTogether, question_asked_by,
                 [&](std::vector<OneQuestion> asked) { answer(answerer, std::move(asked), arguments.json); });
}

void QuestionPrediction::answer_squad(QuestionAnswerer& answerer) const {
  write_or_fail([&] { make_writable_folder(options_.out); });
  std::vector<std::string> ids;
  for (const SquadParagraph& paragraph : squad_.paragraphs)
    for (const SquadQuestion& question : paragraph.questions) ids.push_back(question.id);
  const std::vector<SquadAnswers> answers = answerer.answer(squad_, ids);
  const AnswerFiles files = answer_files(ids, answers);
  write_or_fail([&] {
    write_file_atomic(options_.out / "predictions.json", files.predictions);
    write_file_atomic(options_.out / "nbest_predictions.json", files.n_best);
    if (options_.may_be_none) write_file_atomic(options_.out / "null_odds.json", files.null_odds);
  });
  if (const auto without = std::ranges::count(answers, false, &SquadAnswers::has_candidate); without > 0)
    fmt::print(
        stderr,
        "{} questions have no answer: none of the first and last tokens that compete (--n-best) lie in "
        "the context; predictions.json has \"empty\" for them, as run_squad.py writes it\n",
        without);
}

void QuestionPrediction::add_options(CLI::App& options) {
  options.add_option("--question", options_.question, "One question");
  options.add_option("--context", options_.context, "The text that holds its answer");
  CLI::Option* out = options.add_option("--out", options_.out, "Folder for the answers to --squad");
  CLI::Option* squad = options.add_option("--squad", options_.squad, "SQuAD's JSON")->needs(out);
  out->needs(squad);
  options.add_option("--best", options_.best, "With --json: so many of the best answers")
      ->check(at_least(1))
      ->capture_default_str();
  add_rule_options(options);
}

void QuestionPrediction::add_rule_options(CLI::App& options) {
  const auto add_count = [&](const char* name, std::optional<int>& count, const char* what) {
    options.add_option(name, count, what)->check(at_least(1));
  };
  add_count("--length", options_.length, "Tokens of a sequence");
  add_count("--document-stride", options_.stride, "Tokens from one span of a context to the next");
  add_count("--query-length", options_.query_length, "Most tokens of a question");
  add_count("--answer-length", options_.answer_length, "Most tokens of an answer");
  add_count("--n-best", options_.n_best, "First and last tokens that compete in a span");
  options.add_flag("--may-be-none", options_.may_be_none,
                   "A question may have no answer, as in SQuAD 2.0, for whose files this is so anyway");
  options.add_option(
      "--null-threshold", options_.null_threshold,
      "Where a question may have no answer: it has none if that scores so much higher than the best text");
}

}  // namespace

std::unique_ptr<Prediction> make_question_prediction() { return std::make_unique<QuestionPrediction>(); }

}  // namespace podium
