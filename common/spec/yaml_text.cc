#include "common/spec/yaml_text.h"

#include <algorithm>
#include <string>

#include "common/spec/load.h"

namespace podium {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 character at the front of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) >= 0xA0;
  const bool beyond = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// What is wrong with the character at the front of `rest`, or nothing.
const char* fault_of(std::string_view rest, std::size_t length) {
  if (length == 0) return "the file is not UTF-8 here; save it as UTF-8";
  const char c = rest.front();
  const bool control =
      (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  return control ? "a control character stands here; remove it" : nullptr;
}

}  // namespace

bool check_yaml_text(std::string_view text, Problems& problems) {
  if (text.size() > kMaxSpecBytes) {
    problems.add_at({}, "",
                    "the spec has " + std::to_string(text.size()) + " bytes and at most " +
                        std::to_string(kMaxSpecBytes) + " are read; shorten it");
    return false;
  }
  Place place;
  bool indenting = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const char* fault = fault_of(text.substr(i), length);
    if (!fault && indenting && text[i] == '\t') fault = "the line is indented with a tab; indent with spaces";
    if (fault) {
      problems.add_at(place, "", fault);
      return false;
    }
    indenting = text[i] == '\n' || (indenting && text[i] == ' ');
    place = text[i] == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
    i += length;
  }
  return true;
}

LineIndex::LineIndex(std::string_view text) {
  while (true) {
    const auto newline = text.find('\n');
    lines_.push_back(text.substr(0, newline));
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

Place LineIndex::place(int line, int byte_column) const {
  if (line < 0 || line >= static_cast<int>(lines_.size())) return {static_cast<int>(lines_.size()), 1};
  const std::string_view start =
      lines_[static_cast<std::size_t>(line)].substr(0, static_cast<std::size_t>(std::max(byte_column, 0)));
  const auto characters =
      std::count_if(start.begin(), start.end(), [](char c) { return !is_continuation(c); });
  return {line + 1, static_cast<int>(characters) + 1};
}

}  // namespace podium
