#include "coordinator/api/query.h"

#include <charconv>

namespace podium {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void Query::refuse(std::string_view name, const std::string& why) {
  problems_.push_back(
      {ErrorCode::invalid, "query parameter \"" + std::string(name) + "\" " + why, std::string(name)});
}

std::vector<std::string> Query::all(std::string_view name) {
  asked_.emplace(name);
  std::vector<std::string> values;
  for (const auto& [field, value] : fields_)
    if (field == name) values.push_back(value);
  return values;
}

std::optional<std::string> Query::text(std::string_view name) {
  std::vector<std::string> values = all(name);
  if (values.size() > 1) refuse(name, "is given more than once");
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

std::optional<std::int64_t> Query::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::optional<std::string> given = text(name);
  if (!given) return std::nullopt;
  const std::optional<std::int64_t> value = parse_integer(*given);
  if (value && *value >= least && *value <= most) return value;
  refuse(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                   ", not \"" + given->substr(0, 100) + "\"");
  return std::nullopt;
}

std::int64_t Query::integer_or(std::string_view name, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) {
  return integer(name, least, most).value_or(fallback);
}

Errors Query::problems() const {
  Errors all = problems_;
  for (const auto& [name, value] : fields_) {
    if (asked_.contains(name)) continue;
    const std::string shown = name.substr(0, 100);
    all.push_back({ErrorCode::invalid, "unknown query parameter \"" + shown + "\"", shown});
  }
  return all;
}

}  // namespace podium
