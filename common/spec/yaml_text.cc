#include "common/spec/yaml_text.h"

#include <algorithm>
#include <string>

#include "common/spec/load.h"

namespace podium {
namespace {

constexpr std::size_t kStride = 256;

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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

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

LineIndex::LineIndex(std::string_view text) : text_(text), lines_{0} {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % kStride == 0) characters_.push_back(characters);
    if (!is_continuation(text[i])) ++characters;
    if (text[i] == '\n') lines_.push_back(i + 1);
  }
  characters_.push_back(characters);
}

std::size_t LineIndex::characters_before(std::size_t at) const {
  const std::size_t stride = at / kStride;
  const std::string_view rest = text_.substr(stride * kStride, at % kStride);
  return characters_[stride] +
         static_cast<std::size_t>(std::ranges::count_if(rest, [](char c) { return !is_continuation(c); }));
}

Place LineIndex::place(int line, int byte_column) const {
  if (line < 0 || line >= static_cast<int>(lines_.size())) return {static_cast<int>(lines_.size()), 1};
  const auto index = static_cast<std::size_t>(line);
  const std::size_t begin = lines_[index];
  const std::size_t end = index + 1 < lines_.size() ? lines_[index + 1] - 1 : text_.size();
  const std::size_t at = std::min(begin + static_cast<std::size_t>(std::max(byte_column, 0)), end);
  return {line + 1, static_cast<int>(characters_before(at) - characters_before(begin)) + 1};
}

}  // namespace podium
