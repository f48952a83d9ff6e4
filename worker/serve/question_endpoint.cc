// answer: where in a context the answer to a question stands (worker/tasks/squad).
#include <algorithm>
#include <memory>

#include "worker/ask/questions.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/request_fields.h"
#include "worker/tasks/squad/squad_data.h"

namespace podium {
namespace {

using nlohmann::ordered_json;

constexpr int kMostAnswers = 20;

// A question with its context, as the model sees it.
struct AskedQuestion {
  AskedQuestion(const std::string& question, const std::string& context, const BertModel& model)
      : text(text_of(question, context, *model.tokenizer)), features(text, model.questions.shape) {}

  static SquadText text_of(const std::string& question, const std::string& context,
                           const WordPieceTokenizer& tokenizer) {
    SquadText text;
    Reading reading;
    text.add_questions({.paragraphs = {{context, {{.text = question}}}}}, tokenizer, reading);
    return text;
  }

  SquadText text;
  SquadFeatures features;  // refers to the text
};

SquadAnswers answers_of(const AskedQuestion& asked, const std::vector<SequenceResult>& results,
                        const QuestionRules& rules) {
  std::vector<FeatureScores> scores;
  for (const SequenceResult& result : results) scores.push_back(feature_scores(result.scores, rules));
  return answer_question(asked.features, 0, scores, rules.answers);
}

}  // namespace

Result<PreparedRequest> prepare_answer(const nlohmann::json& body, const BertModel& model) {
  RequestFields fields(body, {"question", "context", "best", "may_be_none", "null_threshold", "timeout_ms"});
  const std::string question = fields.text("question"), context = fields.text("context");
  const int best = fields.number("best", 1, 1, kMostAnswers);
  QuestionRules rules = model.questions;
  rules.answers.n_best = std::max(rules.answers.n_best, best);
  rules.answers.may_be_none = fields.flag("may_be_none");
  rules.answers.null_threshold = fields.real("null_threshold", rules.answers.null_threshold, -1e6, 1e6);
  PreparedRequest prepared{.pass = HeadPass::span};
  fields.check_timeout();
  if (!fields.errors().empty()) return fields.errors();
  const auto asked = std::make_shared<const AskedQuestion>(question, context, model);
  if (asked->features.size() == 0) {
    fields.refuse("has no token", "context");
    return fields.errors();
  }
  for (std::int64_t feature = 0; feature < asked->features.size(); ++feature)
    prepared.sequences.push_back(feature_sequence(asked->features, feature, model.tokenizer->special()));
  prepared.answer = [asked, rules, best](const std::vector<SequenceResult>& results) {
    const ordered_json answer =
        answer_json(answers_of(*asked, results, rules), rules.answers.may_be_none, best);
    return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  };
  return prepared;
}

}  // namespace podium
