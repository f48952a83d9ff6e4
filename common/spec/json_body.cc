#include "common/spec/json_body.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/text.h"
#include "common/spec/source_map.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kLongestText = 300;  // of a mistake, and of where it is

// "parse error at line 1, column 5: …", without the library's own tag before it.
std::string parser_reason(const json::exception& error) {
  const std::string text = error.what();
  const std::size_t tag = text.find("] ");
  return tag == std::string::npos ? text : text.substr(tag + 2);
}

// Looks at a text before it is parsed: whether it is JSON, how deep, and which keys an object has twice, of
// which the parser keeps the last only.
class Look final : public json::json_sax_t {
 public:
  bool null() override { return see(); }
  bool boolean(bool) override { return see(); }
  bool number_integer(number_integer_t) override { return see(); }
  bool number_unsigned(number_unsigned_t) override { return see(); }
  bool number_float(number_float_t, const string_t&) override { return see(); }
  bool string(string_t&) override { return see(); }
  bool binary(binary_t&) override { return see(); }
  bool start_object(std::size_t) override { return open({}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open({.is_list = true}); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    open_.back().key = key;
    if (!open_.back().keys.insert(key).second && !is_full(found_))
      refuse(found_, "is given more than once", path());
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    found_ = {malformed("the body is no JSON: " + parser_reason(error), "")};
    return false;
  }

  Errors found() && { return std::move(found_); }

 private:
  struct Nested {
    bool is_list = false;
    std::int64_t elements = 0;  // of a list, so far
    std::string key = {};       // of an object, the newest
    std::set<std::string> keys = {};
  };

  bool see() {
    if (!open_.empty()) ++open_.back().elements;
    return true;
  }

  bool open(Nested nested) {
    see();
    open_.push_back(std::move(nested));
    if (open_.size() <= kMostDepth) return true;
    found_ = {malformed(
        "the body has more than " + std::to_string(kMostDepth) + " lists and objects within each other", "")};
    return false;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string path() const {
    std::string pointer;
    for (const Nested& nested : open_)
      pointer += "/" + (nested.is_list ? std::to_string(nested.elements - 1) : pointer_step(nested.key));
    return pointer;
  }

  std::vector<Nested> open_;
  Errors found_;
};

}  // namespace

Error malformed(const std::string& message, const std::string& pointer) {
  return {ErrorCode::invalid, cut_text(message, kLongestText), cut_text(pointer, kLongestText)};
}

bool is_full(const Errors& errors) { return errors.size() > kMostMistakes; }

void refuse(Errors& errors, const std::string& message, const std::string& pointer) {
  if (errors.size() < kMostMistakes) return errors.push_back(malformed(message, pointer));
  if (!is_full(errors)) errors.push_back(malformed("there are more mistakes than these", ""));
}

Result<json> parse_object(std::string_view text) {
  Look look;
  const bool is_json = json::sax_parse(text, &look);
  Errors found = std::move(look).found();
  if (!is_json) return found;
  json body = json::parse(text);
  if (!body.is_object())
    return malformed("the body must be a JSON object, not " + std::string(body.type_name()), "");
  if (!found.empty()) return found;
  return body;
}

void need(const json& object, std::string_view key, const std::string& what, Errors& errors,
          const std::string& at) {
  if (!object.contains(key)) refuse(errors, "is missing: " + what, at + "/" + pointer_step(key));
}

void refuse_unknown(const json& object, std::initializer_list<std::string_view> known, Errors& errors,
                    const std::string& at) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [key, value] : object.items()) {
    if (is_full(errors)) return;
    if (std::ranges::find(names, key) != names.end()) continue;
    const auto meant = closest(key.substr(0, 100), names);
    refuse(errors,
           meant ? "is not known; did you mean \"" + *meant + "\"?"
                 : fmt::format("is not known; known here: {}", fmt::join(names, ", ")),
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
