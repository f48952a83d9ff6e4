#include "coordinator/api/body.h"

#include <algorithm>
#include <set>
#include <vector>

#include "common/spec/source_map.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;
using Parsing = json::parse_event_t;

// Notices keys that an object has twice, of which the parser keeps the last only.
class Duplicates {
 public:
  void see(Parsing event, const json& parsed) {
    if (event == Parsing::object_start) open_.emplace_back();
    if (event == Parsing::object_end) open_.pop_back();
    if (event != Parsing::key) return;
    open_.back().last = parsed.get<std::string>();
    if (!open_.back().keys.insert(open_.back().last).second)
      refuse(found_, "is given more than once", path());
  }

  const Errors& found() const { return found_; }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string last;
  };

  // By its keys; places in lists are not counted.
  std::string path() const {
    std::string pointer;
    for (const Object& object : open_) pointer += "/" + pointer_step(object.last);
    return pointer;
  }

  std::vector<Object> open_;
  Errors found_;
};

// "parse error at line 1, column 5: …", without the library's own tag before it.
std::string reason_of(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t tag = text.find("] ");
  return tag == std::string::npos ? text : text.substr(tag + 2);
}

}  // namespace

Error malformed(const std::string& message, const std::string& pointer) {
  return {ErrorCode::invalid, message, pointer};
}

void refuse(Errors& errors, const std::string& message, const std::string& pointer) {
  if (errors.size() < kMostMistakes) return errors.push_back(malformed(message, pointer));
  if (errors.size() == kMostMistakes) errors.push_back(malformed("there are more mistakes than these", ""));
}

Result<json> parse_object(std::string_view text) {
  Duplicates duplicates;
  const auto see = [&duplicates](int, Parsing event, const json& parsed) {
    duplicates.see(event, parsed);
    return true;
  };
  try {
    json body = json::parse(text, see);
    if (!body.is_object())
      return malformed("the body must be a JSON object, not " + std::string(body.type_name()), "");
    if (!duplicates.found().empty()) return duplicates.found();
    return body;
  } catch (const json::exception& error) {
    return malformed("the body is no JSON: " + reason_of(error), "");
  }
}

void need(const json& object, std::string_view key, const std::string& what, Errors& errors,
          const std::string& at) {
  if (!object.contains(key)) refuse(errors, "is missing: " + what, at + "/" + pointer_step(key));
}

void refuse_unknown(const json& object, std::initializer_list<std::string_view> known, Errors& errors,
                    const std::string& at) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, value] : object.items()) {
    if (errors.size() > kMostMistakes) return;
    if (std::ranges::find(names, key) != names.end()) continue;
    const auto meant = closest(key.substr(0, 100), names);
    refuse(errors, meant ? "is not known; did you mean \"" + *meant + "\"?" : "is not known",
           at + "/" + pointer_step(key));
  }
}

std::optional<std::int64_t> whole_number(const json& value, std::int64_t least) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= least ? std::optional(number) : std::nullopt;
}

}  // namespace podium
