#include "coordinator/mlflow/fields.h"

#include <charconv>
#include <cmath>

#include "common/model/codec.h"
#include "common/net/url.h"
#include "coordinator/mlflow/body.h"

namespace podium::mlflow {
namespace {

using nlohmann::json;

// Fields that are given once are texts, the others lists of them.
json from_query(std::vector<std::pair<std::string, std::string>> fields) {
  json object = json::object();
  for (auto& [name, value] : fields) {
    json& field = object[name];
    if (field.is_null())
      field = std::move(value);
    else if (field.is_array())
      field.push_back(std::move(value));
    else
      field = json::array({std::move(field), std::move(value)});
  }
  return object;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> whole(double value) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63
  if (!(value >= -kBeyond && value < kBeyond) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

Fields::Fields(const ServerRequest& request) {
  if (request.method == "POST") {
    Result<json> body = read_body(request.body, request.headers.get("Content-Encoding"));
    if (body)
      object_ = std::move(body).value();
    else
      errors_ = body.errors();
  } else if (request.target.find('?') != std::string::npos) {
    Result<Target> target = parse_target(request.target);
    if (target)
      object_ = from_query(std::move(target).value().query);
    else
      errors_ = target.errors();
  }
}

void Fields::refuse(std::string message) {
  constexpr std::size_t kMost = 20;
  if (errors_.size() < kMost) errors_.push_back({ErrorCode::invalid, std::move(message), ""});
}

void Fields::refuse_if(std::string wrong) {
  if (!wrong.empty()) refuse(std::move(wrong));
}

void Fields::refuse(const Fields& part) {
  for (const Error& error : part.errors_) refuse(error.message);
}

void Fields::refuse(std::string_view name, const json& value, const std::string& what) {
  refuse("Invalid value " + dump(value).substr(0, 200) + " for parameter '" + std::string(name) +
         "' supplied: it must be " + what);
}

const json* Fields::find(std::string_view name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json* Fields::needed(std::string_view name) {
  const json* const found = find(name);
  if (!found) refuse("Missing value for required parameter '" + std::string(name) + "'");
  return found;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const json* const value = find(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  refuse(name, *value, "a text");
  return std::nullopt;
}

std::string Fields::needed_text(std::string_view name) {
  const json* const value = needed(name);
  if (!value) return "";
  std::string given = text(name).value_or("");
  if (value->is_string() && given.empty())
    refuse("Missing value for required parameter '" + std::string(name) + "'");
  return given;
}

std::optional<std::int64_t> Fields::as_integer(const json& value, std::string_view name) {
  std::optional<std::int64_t> number;
  if (value.is_number_unsigned()) {
    if (value.get<std::uint64_t>() <= INT64_MAX) number = value.get<std::int64_t>();
  } else if (value.is_number_integer()) {
    number = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    number = whole(value.get<double>());
  } else if (value.is_string()) {
    number = number_in<std::int64_t>(value.get<std::string>());
  }
  if (!number) refuse(name, value, "a whole number of 64 bits");
  return number;
}

std::optional<std::int64_t> Fields::integer(std::string_view name) {
  const json* const value = find(name);
  return value ? as_integer(*value, name) : std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> number = integer(name);
  if (!number || (least <= *number && *number <= most)) return number;
  refuse(name, *number, "from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::int64_t Fields::needed_integer(std::string_view name) {
  const json* const value = needed(name);
  return value ? as_integer(*value, name).value_or(0) : 0;
}

double Fields::needed_number(std::string_view name) {
  const json* const value = needed(name);
  if (!value) return 0;
  if (value->is_number()) return value->get<double>();
  std::optional<double> number;
  if (value->is_string()) number = number_in<double>(value->get<std::string>());  // reads those names, too
  if (!number) refuse(name, *value, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
  return number.value_or(0);
}

std::vector<std::string> Fields::texts(std::string_view name) {
  const json* const value = find(name);
  if (!value) return {};
  if (value->is_string()) return {value->get<std::string>()};
  std::vector<std::string> all;
  if (value->is_array())
    for (const json& one : *value)
      if (one.is_string()) all.push_back(one.get<std::string>());
  if (!value->is_array() || all.size() != value->size()) refuse(name, *value, "a list of texts");
  return all;
}

std::vector<Fields> Fields::objects(std::string_view name, std::size_t most) {
  const json* const value = find(name);
  if (!value) return {};
  if (value->is_array() && value->size() > most) {
    refuse_more(value->size(), most, name);
    return {};
  }
  std::vector<Fields> all;
  if (value->is_array())
    for (const json& one : *value)
      if (one.is_object()) all.emplace_back(one);
  if (!value->is_array() || all.size() != value->size()) refuse(name, *value, "a list of objects");
  return all;
}

void Fields::refuse_more(std::size_t count, std::size_t most, std::string_view what) {
  if (count > most)
    refuse("A batch logging request can contain at most " + std::to_string(most) + " " + std::string(what) +
           ". Got " + std::to_string(count) + " " + std::string(what) + ". Please split up " +
           std::string(what) + " across multiple requests and try again");
}

}  // namespace podium::mlflow
