// Helpers that the model's JSON codecs share: enums by name, and doubles that survive NaN and infinity.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace podium {

// A table of (value, name): the only place with an enum's wire names.
template <class Enum, std::size_t N>
using EnumNames = std::array<std::pair<Enum, std::string_view>, N>;

template <class Enum, std::size_t N>
std::string_view enum_name(const EnumNames<Enum, N>& names, Enum value) {
  for (const auto& [candidate, name] : names)
    if (candidate == value) return name;
  throw std::invalid_argument("enum value without a name");
}

template <class Enum, std::size_t N>
Enum enum_value(const EnumNames<Enum, N>& names, std::string_view text, std::string_view field) {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  throw std::invalid_argument(std::string(field) + " cannot be \"" + std::string(text) + "\"");
}

// JSON text with U+FFFD for bytes that are not UTF-8: a stray byte of a program must not cause a failure.
std::string dump(const nlohmann::json& json);

// JSON has no NaN or infinity: they travel as "NaN", "Infinity" and "-Infinity".
nlohmann::json number_to_json(double value);
double number_from_json(const nlohmann::json& json);

}  // namespace podium
