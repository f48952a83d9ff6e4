// classify: which class a sentence or a pair is of, or with regression its value (worker/ask/classes.h).
#include "worker/ask/classes.h"
#include "worker/input/bad_data.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/request_fields.h"

namespace podium {
namespace {

using nlohmann::ordered_json;

std::string class_answer(const std::vector<SequenceResult>& results, const BertModel& model, int tokens,
                         bool cut) {
  ordered_json answer = class_json(results.front().scores, model.labels);
  answer["tokens"] = tokens;
  answer["cut"] = cut;
  return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

Result<PreparedRequest> prepare_classify(const nlohmann::json& body, const BertModel& model) {
  RequestFields fields(body, {"text", "pair", "truncate", "timeout_ms"});
  PreparedRequest prepared{.pass = HeadPass::classes};
  fields.check_timeout();
  const std::string text = fields.text("text");
  const std::optional<std::string> pair = fields.optional_text("pair");
  const bool truncate = fields.flag("truncate");
  if (!fields.errors().empty()) return fields.errors();
  TextSequence sequence;
  try {
    sequence = class_sequence(*model.tokenizer, text, pair, model.habits, truncate, "the model", "the text");
  } catch (const BadData& error) {
    fields.refuse(error.what(), pair ? "pair" : "text");
  }
  if (!fields.errors().empty()) return fields.errors();
  prepared.answer = [tokens = sequence.length(), cut = sequence.cut,
                     &model](const std::vector<SequenceResult>& results) {
    return class_answer(results, model, tokens, cut);
  };
  prepared.sequences.push_back(std::move(sequence));
  return prepared;
}

}  // namespace podium
