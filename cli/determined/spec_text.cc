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

// What YAML reads as the end of a line, and other control characters, as spaces.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  for (const std::string_view line_break : {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    for (std::size_t at = text.find(line_break); at != std::string::npos; at = text.find(line_break, at))
      text.replace(at, line_break.size(), " ");
  return text;
}

}  // namespace

std::string note_text(const Note& note, const std::string& file) {
  return fmt::format("{}:{}: {}{}: {}", file, note.line, note.key, note.left ? " is left out" : "",
                     note.text);
}

std::string spec_text(const Translation& translation, const std::string& file) {
  std::string text =
      one_line(fmt::format(
          "# Translated from {}, an experiment of Determined's. The program reads its hyperparameters in "
          "PODIUM_PARAMETERS (JSON).",
          ordered_json(file).dump())) +
      "\n";
  for (const Note& note : translation.notes) text += "# " + one_line(note_text(note, file)) + "\n";
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
