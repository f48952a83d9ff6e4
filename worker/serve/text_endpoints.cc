// fill-mask and embed: what a BERT makes of a text or a pair of texts (worker/infer/text_answers.h).
#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "worker/infer/text_answers.h"
#include "worker/serve/encoded_text.h"
#include "worker/serve/endpoint.h"
#include "worker/serve/request_fields.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr int kMostCandidates = 1000;  // of a mask
constexpr int kUsualCandidates = 5;
constexpr std::size_t kMostOfAllMasks = 10'000;

// "text", and "next" of a pair. A mistake is among the fields' errors.
TextSequence text_sequence(RequestFields& fields, const BertModel& model) {
  const std::string text = fields.text("text");
  const std::optional<std::string> next = fields.optional_text("next");
  const TextLimit limit{.tokens = model.weights.spec.max_positions, .cut = fields.flag("truncate")};
  if (!fields.errors().empty()) return {};
  return encoded_text(*model.tokenizer, text, next, limit, fields);
}

void check_heads(const TextSequence& sequence, const BertModel& model, RequestFields& fields) {
  if (!sequence.masked.empty() && !model.weights.prediction)
    fields.refuse("has a [MASK], and the model has no head that predicts masked tokens", "text");
  if (sequence.is_pair() && !model.weights.next_sentence)
    fields.refuse("needs a head that judges whether a sentence follows another, which the model lacks",
                  "next");
  if (sequence.masked.empty() && !sequence.is_pair()) fields.refuse("has no [MASK] to fill", "text");
}

void check_candidates(const TextSequence& sequence, std::size_t top, RequestFields& fields) {
  const std::size_t masks = sequence.masked.size();
  if (masks * top > kMostOfAllMasks)
    fields.refuse(fmt::format("{} candidates for each of {} masks are more than {} together; ask for {} or "
                              "fewer, or send fewer masks",
                              top, masks, kMostOfAllMasks, kMostOfAllMasks / masks),
                  "top");
}

std::string mask_answer(const TextSequence& sequence, TextResult result,
                        const WordPieceTokenizer& tokenizer) {
  drop_unknown(result, tokenizer);
  return result_json(sequence, result, tokenizer).dump(-1, ' ', false, json::error_handler_t::replace);
}

// The fewest digits that give the same f32.
std::string numbers(std::span<const float> values) {
  std::string text = "[";
  for (const float value : values) {
    if (text.size() > 1) text += ',';
    text += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }
  return text + "]";
}

}  // namespace

Result<PreparedRequest> prepare_fill_mask(const json& body, const BertModel& model) {
  RequestFields fields(body, {"text", "next", "top", "truncate", "timeout_ms"});
  const int top = fields.number("top", kUsualCandidates, 1, kMostCandidates);
  PreparedRequest prepared{.pass = HeadPass::text, .top = top};
  fields.check_timeout();
  const TextSequence sequence = text_sequence(fields, model);
  if (fields.errors().empty()) check_heads(sequence, model, fields);
  if (fields.errors().empty()) check_candidates(sequence, static_cast<std::size_t>(top), fields);
  if (!fields.errors().empty()) return fields.errors();
  prepared.sequences = {sequence};
  prepared.answer = [sequence, &model](const std::vector<SequenceResult>& results) {
    return mask_answer(sequence, results.front().text, *model.tokenizer);
  };
  return prepared;
}

Result<PreparedRequest> prepare_embed(const json& body, const BertModel& model) {
  RequestFields fields(body, {"text", "next", "truncate", "timeout_ms"});
  PreparedRequest prepared{.pass = HeadPass::text};
  fields.check_timeout();
  TextSequence sequence = text_sequence(fields, model);
  if (!fields.errors().empty()) return fields.errors();
  sequence.masked.clear();  // nothing is predicted
  const int tokens = sequence.length();
  prepared.sequences.push_back(std::move(sequence));
  prepared.answer = [tokens](const std::vector<SequenceResult>& results) {
    const TextResult& result = results.front().text;
    const std::string pooled = result.pooled.empty() ? "" : ",\"pooled\":" + numbers(result.pooled);
    return fmt::format("{{\"tokens\":{},\"mean\":{}{}}}", tokens, numbers(result.mean), pooled);
  };
  return prepared;
}

}  // namespace podium
