#include "worker/serve/generation_request.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <climits>

#include "worker/generate/prompt.h"
#include "worker/serve/request_fields.h"

namespace podium {
namespace {

constexpr int kMostStops = 16;
constexpr std::size_t kLongestStop = 256;  // bytes

bool is_stop(const nlohmann::json& value) {
  if (!value.is_string()) return false;
  const std::size_t size = value.get_ref<const std::string&>().size();
  return size >= 1 && size <= kLongestStop;
}

// "stop": a text, or a list of them.
std::vector<std::string> stops_of(const nlohmann::json& body, RequestFields& fields) {
  if (!fields.has("stop")) return {};
  const nlohmann::json& stop = body["stop"];
  const nlohmann::json list = stop.is_array() ? stop : nlohmann::json::array({stop});
  if (!list.empty() && list.size() <= kMostStops && std::ranges::all_of(list, is_stop))
    return list.get<std::vector<std::string>>();
  fields.refuse(fmt::format("must be a text or a list of 1 to {} texts, each of 1 to {} bytes", kMostStops,
                            kLongestStop),
                "stop");
  return {};
}

// Its tokens, and how many may follow.
void take_prompt(const std::string& prompt, const PromptRule& rule, const LanguageModel& model,
                 RequestFields& fields, GenerationRequest& request) {
  request.prompt = prompt_tokens(*model.tokenizer, model.ends, prompt);
  if (request.prompt.empty())
    return fields.refuse("is empty, and no token that ends a text is known, to begin one with", "prompt");
  const auto length = std::ssize(request.prompt);
  if (const std::optional<int> room = fit_prompt(rule, request.prompt)) {
    request.max_tokens = *room;
    return;
  }
  fields.refuse(
      fmt::format("has {} tokens, and {}the model takes {}: shorten it, or keep its end alone with "
                  "\"truncate\": true",
                  length, rule.max_tokens ? fmt::format("with max_tokens {} ", *rule.max_tokens) : "",
                  longest_prompt(rule)),
      "prompt");
}

}  // namespace

Result<PreparedText> prepare_text(const nlohmann::json& body, const LanguageModel& model, int positions) {
  RequestFields fields(body, {"prompt", "max_tokens", "temperature", "top_k", "top_p", "seed", "stop",
                              "stream", "truncate", "timeout_ms"});
  PreparedText text;
  fields.check_timeout();
  const std::string prompt = fields.text("prompt");
  PromptRule rule{.positions = positions};
  if (fields.has("max_tokens")) rule.max_tokens = fields.number("max_tokens", 1, 1, positions);
  text.rule.sampling = {.temperature = fields.real("temperature", 1, 0, 1e6),
                        .top_k = fields.number("top_k", 0, 0, INT_MAX),
                        .top_p = fields.real("top_p", 1, 0, 1)};
  text.rule.seed = fields.seed("seed");
  text.rule.stops = stops_of(body, fields);
  text.rule.ends = model.ends;
  if (fields.has("stream")) text.stream = fields.flag("stream");
  rule.truncate = fields.flag("truncate");
  if (fields.errors().empty()) take_prompt(prompt, rule, model, fields, text.request);
  if (!fields.errors().empty()) return fields.errors();
  return text;
}

}  // namespace podium
