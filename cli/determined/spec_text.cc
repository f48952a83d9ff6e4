// A spec as YAML that people edit: a block for each section, JSON's form within.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "cli/determined/translate.h"

namespace podium::cli {
namespace {

using nlohmann::ordered_json;

// Text that YAML reads as the same text without quotes. Every other string is quoted as JSON quotes it.
bool is_plain(const std::string& text) {
  const auto is_safe = [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           std::string_view("_./-").find(c) != std::string_view::npos;
  };
  const char first = text.empty() ? '\0' : text[0];
  if (!((first | 0x20) >= 'a' && (first | 0x20) <= 'z') || !std::ranges::all_of(text, is_safe)) return false;
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower != "true" && lower != "false" && lower != "null" && lower != "yes" && lower != "no" &&
         lower != "on" && lower != "off" && lower != "y" && lower != "n";
}

std::string flow(const ordered_json& value) {
  if (value.is_string()) return is_plain(value.get<std::string>()) ? value.get<std::string>() : value.dump();
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, each] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += flow(key) + ": ";
    text += flow(each);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace

std::string note_text(const Note& note, const std::string& file) {
  return fmt::format("{}:{}: {}{}: {}", file, note.line, note.key, note.left ? " is left out" : "",
                     note.text);
}

std::string spec_text(const Translation& translation, const std::string& file) {
  std::string text = fmt::format(
      "# Translated from {}, an experiment of Determined's. The program reads its hyperparameters in "
      "PODIUM_PARAMETERS (JSON).\n",
      ordered_json(file).dump());
  for (const Note& note : translation.notes) {
    std::string line = note_text(note, file);
    std::ranges::replace(line, '\n', ' ');
    text += "# " + line + "\n";
  }
  for (const auto& [key, value] : translation.spec.items()) {
    if (!value.is_object()) {
      text += key + ": " + flow(value) + "\n";
      continue;
    }
    text += key + ":\n";
    for (const auto& [below, each] : value.items()) text += "  " + flow(below) + ": " + flow(each) + "\n";
  }
  return text;
}

}  // namespace podium::cli
