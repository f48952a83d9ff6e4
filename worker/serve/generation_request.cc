#include "worker/serve/generation_request.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <climits>

#include "worker/serve/request_fields.h"

namespace podium {
namespace {

constexpr int kUsualTokens = 128;
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

// The tokens of the prompt, of which "truncate" keeps the end; the last token of the text needs no position.
std::vector<std::int32_t> prompt_of(const std::string& text, int wanted, int positions, bool truncate,
                                    const LanguageModel& model, RequestFields& fields) {
  std::vector<std::int32_t> ids;
  model.tokenizer->encode(text, ids);
  if (ids.empty() && !model.ends.empty()) ids.push_back(model.ends.back());
  if (ids.empty())
    fields.refuse("is empty, and no token that ends a text is known, to begin one with", "prompt");
  const auto room = static_cast<std::size_t>(positions + 1 - wanted);
  if (ids.size() <= room) return ids;
  if (truncate)
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(room));
  else
    fields.refuse(
        fmt::format("has {} tokens, and with max_tokens {} the model takes {}: shorten it, or keep its end "
                    "alone with \"truncate\": true",
                    ids.size(), wanted, room),
        "prompt");
  return ids;
}

}  // namespace

Result<PreparedText> prepare_text(const nlohmann::json& body, const LanguageModel& model, int positions) {
  RequestFields fields(body, {"prompt", "max_tokens", "temperature", "top_k", "top_p", "seed", "stop",
                              "stream", "truncate", "timeout_ms"});
  PreparedText text{.timeout = fields.timeout()};
  const std::string prompt = fields.text("prompt");
  text.request.max_tokens =
      fields.number("max_tokens", std::clamp(positions / 2, 1, kUsualTokens), 1, positions);
  text.rule.sampling = {.temperature = fields.real("temperature", 1, 0, 1e6),
                        .top_k = fields.number("top_k", 0, 0, model.weights.spec.vocab),
                        .top_p = fields.real("top_p", 1, 0, 1)};
  text.rule.seed = static_cast<std::uint64_t>(fields.number("seed", 0, 0, INT_MAX));
  text.rule.stops = stops_of(body, fields);
  text.rule.ends = model.ends;
  if (fields.has("stream")) text.stream = fields.flag("stream");
  const bool truncate = fields.flag("truncate");
  if (fields.errors().empty())
    text.request.prompt = prompt_of(prompt, text.request.max_tokens, positions, truncate, model, fields);
  if (!fields.errors().empty()) return fields.errors();
  return text;
}

}  // namespace podium
