#include "common/spec/explain.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/spec/schema.h"
#include "common/spec/suggest.h"
#include "common/spec/yaml_scalar.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestShown = 60;  // bytes of a value
constexpr int kUnknownTold = 20;  // keys of one mapping: a suggestion for each costs more than reading it

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string type_in_words(const std::string& type) {
  if (type == "integer") return "a whole number";
  if (type == "number") return "a number";
  if (type == "string") return "text";
  if (type == "boolean") return "true or false";
  if (type == "array") return "a list";
  return "a mapping of keys to values";
}

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  return value.is_object();
}

std::vector<std::string> types_of(const json& schema) {
  const json& type = schema.at("type");
  return type.is_string() ? std::vector{type.get<std::string>()} : type.get<std::vector<std::string>>();
}

// Makes ", as in 72h" of the schema's examples.
std::string example_of(const json& schema) {
  const auto examples = schema.find("examples");
  return examples == schema.end() ? "" : ", as in " + examples->front().dump();
}

bool matches_pattern(const json& schema, const std::string& text) {
  const auto pattern = schema.find("pattern");
  return pattern == schema.end() || std::regex_search(text, std::regex(pattern->get<std::string>()));
}

// What to do about text where a number belongs.
std::string number_remedy(const std::string& text) {
  if (plain_scalar(text).value_or("").is_number()) return "; write it without quotes";
  const bool grouped = text.find_first_not_of("0123456789_,.") == std::string::npos;
  return grouped ? "; write the digits alone, without commas or underscores" : "; write it without a unit";
}

// Splits text into words as a shell does. Nothing where a quote is not closed, and that quote.
std::optional<json> words_of(const std::string& text, char& unclosed) {
  json words = json::array();
  std::optional<std::string> word;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size();
    if (quote == '\0' && !escapes && (c == ' ' || c == '\t' || c == '\n')) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (escapes)
      *word += text[++i];
    else if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
    else
      *word += c;
  }
  if (word) words.push_back(*word);
  unclosed = quote;
  return quote == '\0' ? std::optional(words) : std::nullopt;
}

// What to do about text where a list of words belongs.
std::string words_remedy(const std::string& text) {
  char unclosed = '\0';
  const auto words = words_of(text, unclosed);
  if (words) return "; write " + words->dump();
  return std::string("; its quote ") + unclosed + " is not closed: close it, and write each word by itself";
}

// What to do about a value of the wrong type, where that can be told. `written`: a plain value as the file
// has it.
std::string type_remedy(const json& value, const std::string& written, const json& schema) {
  const std::string type = types_of(schema).front();
  const bool is_plain = value.is_number() || value.is_boolean();
  if (type == "string" && is_plain && matches_pattern(schema, written))
    return "; put it in quotes: " + in_quotes(written);
  const json items = schema.value("items", json::object());
  if (type == "array" && value.is_string() && items.value("type", json()) == "string")
    return words_remedy(value);
  if (type == "array" && (is_plain || value.is_string())) return "; write [" + value.dump() + "]";
  if (!value.is_string()) return "";
  const auto& text = value.get_ref<const std::string&>();
  if (type == "boolean" && (text == "yes" || text == "on")) return "; write true";
  if (type == "boolean" && (text == "no" || text == "off")) return "; write false";
  const bool begins_with_digit = !text.empty() && std::isdigit(static_cast<unsigned char>(text.front()));
  return (type == "integer" || type == "number") && begins_with_digit ? number_remedy(text) : "";
}

// One value against the keywords of its own schema.
class Explainer {
 public:
  // `elsewhere`: keys of the format that this value does not have.
  Explainer(const json& schema, const json& value, std::string pointer, std::string name,
            const std::vector<Suggestion>& elsewhere, Problems& problems, bool in_part = false)
      : schema_(schema),
        value_(value),
        pointer_(std::move(pointer)),
        name_(std::move(name)),
        elsewhere_(elsewhere),
        problems_(problems),
        in_part_(in_part) {}

  bool run() {
    if (type()) {
      choice();
      if (value_.is_number()) bounds();
      if (value_.is_string()) text();
      if (value_.is_array()) list();
      if (value_.is_object()) mapping();
    }
    return said_;
  }

 private:
  void say(const std::string& message) {
    problems_.add(pointer_, message);
    said_ = true;
  }

  // False when the type is wrong: nothing else can be said then.
  bool type() {
    if (!schema_.contains("type")) return true;
    const auto types = types_of(schema_);
    if (std::any_of(types.begin(), types.end(), [&](const auto& type) { return has_type(value_, type); }))
      return true;
    const std::string* const written = problems_.written(pointer_);
    std::string wanted;
    for (const std::string& type : types) wanted += (wanted.empty() ? "" : " or ") + type_in_words(type);
    if (value_.is_null()) {
      say(name_ + " is empty and must be " + wanted + example_of(schema_) + "; fill it in or remove it");
    } else {
      wrong_type(wanted, written);
    }
    return false;
  }

  // `written`: a plain value as the file has it.
  void wrong_type(const std::string& wanted, const std::string* written) {
    const std::string must = name_ + " must be " + wanted + example_of(schema_);
    if (is_secret()) {
      const bool is_plain = value_.is_number() || value_.is_boolean();
      return say(must + (is_plain && types_of(schema_).front() == "string" ? "; put it in quotes" : ""));
    }
    say(must + ", not " + (written ? cut_text(*written, kLongestShown) : shown(value_)) +
        type_remedy(value_, written ? *written : value_.dump(-1, ' ', false, json::error_handler_t::replace),
                    schema_));
  }

  // What is told goes to logs.
  bool is_secret() const { return schema_.value("x-secret", false); }

  void choice() {
    const auto choices = schema_.find("enum");
    if (choices == schema_.end() || std::find(choices->begin(), choices->end(), value_) != choices->end())
      return;
    std::vector<std::string> names;
    std::string all;
    for (const json& choice : *choices) {
      names.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
      all += (all.empty() ? "" : ", ") + names.back();
    }
    const auto near = value_.is_string() ? closest(value_.get<std::string>(), names) : std::nullopt;
    say(name_ + " cannot be " + shown(value_) + (near ? "; did you mean " + in_quotes(*near) + "?" : ".") +
        (names.size() == 1 ? " It must be " : " It is one of ") + all);
  }

  void bounds() {
    const double number = value_.get<double>();
    const auto bound = [&](const char* keyword, const char* words, auto holds) {
      const auto limit = schema_.find(keyword);
      if (limit != schema_.end() && !holds(number, limit->get<double>()))
        say(name_ + " must be " + words + " " + limit->dump() + ", not " + shown(value_));
    };
    bound("minimum", "at least", std::greater_equal<>());
    bound("maximum", "at most", std::less_equal<>());
    bound("exclusiveMinimum", "above", std::greater<>());
    bound("exclusiveMaximum", "below", std::less<>());
  }

  void text() {
    const auto& text = value_.get_ref<const std::string&>();
    const auto shortest = schema_.value("minLength", 0u);
    if (text.size() < shortest)
      return say(name_ +
                 (shortest == 1 ? " must not be empty"
                                : " must have at least " + std::to_string(shortest) + " characters, not " +
                                      std::to_string(text.size())) +
                 example_of(schema_));
    const auto longest = schema_.value("maxLength", text.size());
    if (text.size() > longest)
      return say(name_ + " must have at most " + std::to_string(longest) + " characters, not " +
                 std::to_string(text.size()));
    if (matches_pattern(schema_, text)) return;
    const auto words = schema_.find("x-says");
    say(name_ +
        (words != schema_.end() ? " " + words->get<std::string>() + example_of(schema_)
                                : " must read like " + schema_.at("examples").front().dump()) +
        (is_secret() ? "" : ", not " + shown(value_)));
  }

  void list() {
    const auto size = value_.size();
    if (size < schema_.value("minItems", 0u)) say(name_ + " needs at least one item" + example_of(schema_));
    if (!schema_.value("uniqueItems", false)) return;
    std::set<json> seen;
    for (std::size_t i = 0; i < size; ++i)
      if (!seen.insert(value_[i]).second) {
        problems_.add(pointer_ + "/" + std::to_string(i),
                      name_ + " lists " + shown(value_[i]) + " twice; keep one");
        said_ = true;
      }
  }

  void mapping() {
    for (const json& key : in_part_ ? json::array() : schema_.value("required", json::array()))
      if (!value_.contains(key)) missing_key(key.get<std::string>());
    if (value_.size() < schema_.value("minProperties", 0u)) say(name_ + " needs at least one key");
    if (value_.size() > schema_.value("maxProperties", value_.size()))
      say(name_ + " may have at most " + schema_.at("maxProperties").dump() + " keys, not " +
          std::to_string(value_.size()));
    if (schema_.value("additionalProperties", json(true)) != json(false)) return;
    int unknown = 0;
    for (const auto& [key, value] : value_.items())
      if (!schema_.at("properties").contains(key) && ++unknown <= kUnknownTold) unknown_key(key);
    if (unknown > kUnknownTold)
      say(name_ + " has " + std::to_string(unknown - kUnknownTold) + " more unknown keys");
  }

  void missing_key(const std::string& key) {
    const json& property = schema_.at("properties").at(key);
    problems_.add_missing(pointer_ + "/" + pointer_step(key),
                          name_ + " needs the key " + in_quotes(key) + example_of(resolved(property)));
    said_ = true;
  }

  void unknown_key(const std::string& key) {
    std::vector<Suggestion> siblings;
    for (const auto& [name, property] : schema_.at("properties").items()) {
      siblings.emplace_back(name, name);
      for (const json& other : also_called(property)) siblings.emplace_back(other.get<std::string>(), name);
    }
    const bool is_of_top =
        !pointer_.empty() && std::ranges::find(elsewhere_, Suggestion(key, key)) != elsewhere_.end();
    auto near = is_of_top ? std::optional(key) : closest(key, siblings);
    if (!near) near = closest(key, keys_below(schema_));
    if (near && !is_of_top && !pointer_.empty() && !schema_.at("properties").contains(*near))
      near = name_ + "." + *near;
    if (!near) near = closest(key, elsewhere_);
    problems_.add_key(pointer_ + "/" + pointer_step(key),
                      "unknown key " + in_quotes(key) + "; " + key_remedy(key, near));
    said_ = true;
  }

  // `near`: what a known key like it is called, from the root of the spec where it is of another mapping.
  std::string key_remedy(const std::string& key, const std::optional<std::string>& near) const {
    if (near && near->ends_with("." + key))
      return "it belongs in " + near->substr(0, near->size() - key.size() - 1);
    if (near == key) return "it belongs at the top of the spec, not in " + name_;
    if (near) return "did you mean " + in_quotes(*near) + "?";
    std::string known;
    for (const auto& [name, property] : schema_.at("properties").items())
      known += (known.empty() ? "" : ", ") + name;
    return (pointer_.empty() ? "known here: " : "known in " + name_ + ": ") + known;
  }

  const json& schema_;
  const json& value_;
  std::string pointer_;
  std::string name_;
  const std::vector<Suggestion>& elsewhere_;
  Problems& problems_;
  const bool in_part_;
  bool said_ = false;
};

}  // namespace

std::string dotted(const std::string& pointer) {
  if (pointer.empty()) return "the spec";
  std::string path;
  for (json::json_pointer at(pointer); !at.empty(); at = at.parent_pointer())
    path = path.empty() ? at.back() : at.back() + "." + path;
  return path;
}

std::string shown(const json& value) {
  if (value.is_object()) return "a mapping";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= kLongestShown) return text;
  std::size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

const json& also_called(const json& property) {
  static const json none = json::array();
  const auto names = property.find("x-also-called");
  return names == property.end() ? none : *names;
}

bool explain(const json& document, const std::string& pointer, Problems& problems, bool in_part) {
  const json::json_pointer at(pointer);
  const json* schema = schema_of(at);
  if (!schema || !document.contains(at)) return false;
  return Explainer(resolved(*schema), document.at(at), pointer, dotted(pointer), all_keys(), problems,
                   in_part)
      .run();
}

namespace {

void explain_below(const json& schema, const json& value, const std::string& pointer, const std::string& name,
                   Problems& problems) {
  static const std::vector<Suggestion> nowhere;
  Explainer(schema, value, pointer, name, nowhere, problems).run();
  const auto below = [&](const std::string& step, const json& inner, const json& governs) {
    const std::string at = pointer + "/" + pointer_step(step);
    explain_below(governs, inner, at, dotted(at), problems);
  };
  if (const auto items = schema.find("items"); items != schema.end() && value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) below(std::to_string(i), value[i], *items);
  if (const auto properties = schema.find("properties"); properties != schema.end() && value.is_object())
    for (const auto& [key, inner] : value.items())
      if (const auto property = properties->find(key); property != properties->end())
        below(key, inner, *property);
}

}  // namespace

void explain_all(const json& schema, const json& document, const std::string& whole, Problems& problems) {
  explain_below(schema, document, "", whole, problems);
}

}  // namespace podium
