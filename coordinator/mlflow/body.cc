#include "coordinator/mlflow/body.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/base/text.h"
#include "common/spec/yaml_text.h"

namespace podium::mlflow {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 32;

Error unread(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

// Whoever walks through a value recurses into it.
bool is_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '{' || c == '['))
      depth += 1;
    else if (!quoted && (c == '}' || c == ']'))
      depth -= 1;
    if (depth > kMostDepth) return true;
  }
  return false;
}

// Python writes numbers that are none as words, which JSON has not. `byte`: at which the parser gave up, from
// 1.
std::string_view no_number_at(std::string_view text, std::size_t byte) {
  std::size_t at = byte == 0 ? 0 : byte - 1;
  while (at > 0 && at <= text.size() && text[at - 1] == '-') --at;
  if (at >= text.size()) return "";
  for (const std::string_view word : std::array<std::string_view, 3>{"NaN", "Infinity", "-Infinity"})
    if (text.substr(at).starts_with(word)) return word;
  return "";
}

Error no_json(std::string_view body, std::size_t byte) {
  if (const std::string_view word = no_number_at(body, byte); !word.empty())
    return unread("the body is no JSON: " + std::string(word) + " at byte " + std::to_string(byte) +
                  " is no number there; write it as text, \"" + std::string(word) + "\"");
  constexpr std::size_t kShown = 20;
  const std::size_t end = std::min(byte, body.size());
  std::string before(body.substr(end < kShown ? 0 : end - kShown, std::min(end, kShown)));
  std::ranges::replace_if(
      before, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return unread("the body is no JSON from byte " + std::to_string(byte) + " on, behind '" + before + "'");
}

}  // namespace

Result<json> read_body(std::string_view body, std::string_view encoding) {
  if (!encoding.empty() && encoding != "identity")
    return unread("the body has the Content-Encoding " + cut_text(std::string(encoding), 50) +
                  ", and is read as it is alone; send it without one");
  if (body.empty()) return json::object();
  if (!is_utf8(body)) return unread("the body is not UTF-8");
  if (is_deep(body))
    return unread("the body has more than " + std::to_string(kMostDepth) +
                  " lists and objects within each other");
  try {
    json object = json::parse(body);
    if (object.is_object()) return object;
    return unread("the body must be a JSON object, not " + std::string(object.type_name()));
  } catch (const json::parse_error& error) {
    return no_json(body, error.byte);
  } catch (const json::exception& error) {  // a number beyond all doubles
    return unread("the body is no JSON that is read here: " + cut_text(error.what(), 200));
  }
}

}  // namespace podium::mlflow
