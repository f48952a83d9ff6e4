// Fields of the coordinator's answers, where absent and null mean the same.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

inline std::string text_field(const nlohmann::json& object, const char* key, const char* otherwise = "") {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

inline std::int64_t integer_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

inline double number_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

inline bool flag_field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// Null when absent.
inline nlohmann::json field(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nlohmann::json() : *found;
}

}  // namespace podium::cli
