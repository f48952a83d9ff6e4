// Reads values out of a spec that may be partly wrong: what is absent or was refused is simply not there, so
// that a rule speaks only when everything it compares is known.
#pragma once

#include <charconv>
#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace podium {

class Facts {
 public:
  explicit Facts(const nlohmann::json& filled) : filled_(filled) {}

  std::optional<std::int64_t> integer(const char* pointer) const { return get<std::int64_t>(pointer); }
  std::optional<double> number(const char* pointer) const { return get<double>(pointer); }
  std::optional<std::string> text(const char* pointer) const { return get<std::string>(pointer); }
  // Of "200 steps" or 200.
  std::optional<std::int64_t> steps(const char* pointer) const {
    const auto words = text(pointer);
    if (!words) return integer(pointer);
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(words->data(), words->data() + words->size(), count);
    return error == std::errc{} ? std::optional(count) : std::nullopt;
  }

  // Written, filled in, or refused: the key is there.
  bool has(const char* pointer) const { return filled_.contains(nlohmann::json::json_pointer(pointer)); }
  const nlohmann::json& all() const { return filled_; }

 private:
  template <class Value>
  std::optional<Value> get(const char* pointer) const {
    const nlohmann::json::json_pointer at(pointer);
    if (!filled_.contains(at)) return std::nullopt;
    const nlohmann::json& value = filled_.at(at);
    const bool fits = std::same_as<Value, std::string>    ? value.is_string()
                      : std::same_as<Value, std::int64_t> ? value.is_number_integer()
                                                          : value.is_number();
    return fits ? std::optional(value.get<Value>()) : std::nullopt;
  }

  const nlohmann::json& filled_;
};

}  // namespace podium
