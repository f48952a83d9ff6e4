#include "coordinator/api/body.h"

#include <algorithm>
#include <set>

#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;

// Notices keys that an object has twice, of which the parser keeps the last only.
class Duplicates {
 public:
  bool operator()(int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second)
      found_.push_back(malformed("the key \"" + parsed.get<std::string>().substr(0, 100) +
                                     "\" is given more than once in one object",
                                 ""));
    return true;
  }

  const Errors& found() const { return found_; }

 private:
  std::vector<std::set<std::string>> open_;
  Errors found_;
};

// "parse error at line 1, column 5: …", without the library's own tag before it.
std::string reason_of(const json::parse_error& error) {
  const std::string text = error.what();
  const std::size_t tag = text.find("] ");
  return tag == std::string::npos ? text : text.substr(tag + 2);
}

}  // namespace

Error malformed(const std::string& message, const std::string& where) {
  return {ErrorCode::invalid, message, where};
}

Result<json> parse_object(std::string_view text) {
  Duplicates duplicates;
  try {
    json body = json::parse(text, [&duplicates](int depth, json::parse_event_t event, json& parsed) {
      return duplicates(depth, event, parsed);
    });
    if (!body.is_object())
      return malformed("the body must be a JSON object, not " + std::string(body.type_name()), "");
    if (!duplicates.found().empty()) return duplicates.found();
    return body;
  } catch (const json::parse_error& error) {
    return malformed("the body is no JSON: " + reason_of(error), "");
  }
}

void need(const json& body, std::string_view key, const std::string& what, Errors& errors) {
  if (!body.contains(key)) errors.push_back(malformed("is missing: " + what, "/" + std::string(key)));
}

void refuse_unknown(const json& body, std::initializer_list<std::string_view> known, Errors& errors) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, value] : body.items()) {
    if (std::ranges::find(names, key) != names.end()) continue;
    const auto meant = closest(key, names);
    errors.push_back(
        malformed(meant ? "is not known; did you mean \"" + *meant + "\"?" : "is not known", "/" + key));
  }
}

std::optional<std::int64_t> whole_number(const json& value, std::int64_t least) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= least ? std::optional(number) : std::nullopt;
}

}  // namespace podium
