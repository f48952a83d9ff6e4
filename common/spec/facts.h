// Reads values of a spec that may be partly wrong: absent and refused values read as nothing, so that a rule
// applies only where everything that it compares is known.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace podium {

class Facts {
 public:
  explicit Facts(const nlohmann::json& filled) : filled_(filled) {}

  std::optional<std::int64_t> integer(const std::string& pointer) const { return get<std::int64_t>(pointer); }
  std::optional<double> number(const std::string& pointer) const { return get<double>(pointer); }
  std::optional<std::string> text(const std::string& pointer) const { return get<std::string>(pointer); }
  std::optional<bool> flag(const std::string& pointer) const { return get<bool>(pointer); }
  // Of "200 steps" or 200.
  std::optional<std::int64_t> steps(const std::string& pointer) const {
    const auto words = text(pointer);
    if (!words) return integer(pointer);
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(words->data(), words->data() + words->size(), count);
    return error == std::errc{} ? std::optional(count) : std::nullopt;
  }

  // Written, filled in, or refused: the key is there.
  bool has(const std::string& pointer) const {
    return filled_.contains(nlohmann::json::json_pointer(pointer));
  }
  const nlohmann::json& all() const { return filled_; }

 private:
  template <class Value>
  std::optional<Value> get(const std::string& pointer) const {
    const nlohmann::json::json_pointer at(pointer);
    if (!filled_.contains(at)) return std::nullopt;
    const nlohmann::json& value = filled_.at(at);
    const bool fits = std::same_as<Value, std::string>    ? value.is_string()
                      : std::same_as<Value, bool>         ? value.is_boolean()
                      : std::same_as<Value, std::int64_t> ? value.is_number_integer()
                                                          : value.is_number();
    return fits ? std::optional(value.get<Value>()) : std::nullopt;
  }

  const nlohmann::json& filled_;
};

// One phase of the training: the first is written in `training` itself, the later ones in training.phases. A
// rule applies to a phase that `changes` a value that it compares; inherited values were judged before.
class PhaseFacts {
 public:
  // `before`: the pointer of the previous phase; "" for the first.
  PhaseFacts(const Facts& facts, std::string at, std::string before)
      : facts_(facts), at_(std::move(at)), before_(std::move(before)) {}

  std::string pointer(const char* key) const { return at_ + key; }
  std::optional<std::int64_t> integer(const char* key) const { return facts_.integer(pointer(key)); }
  std::optional<double> number(const char* key) const { return facts_.number(pointer(key)); }
  bool changes(std::initializer_list<const char*> keys) const {
    return before_.empty() || std::any_of(keys.begin(), keys.end(), [&](const char* key) {
             return number(key) != facts_.number(before_ + key);
           });
  }

 private:
  const Facts& facts_;
  std::string at_;
  std::string before_;
};

inline std::vector<PhaseFacts> phases_of(const Facts& facts) {
  std::vector<PhaseFacts> phases;
  std::string before;
  std::string at = "/training";
  for (std::size_t next = 0; facts.has(at); ++next) {
    phases.emplace_back(facts, at, before);
    before = at;
    at = "/training/phases/" + std::to_string(next);
  }
  return phases;
}

}  // namespace podium
