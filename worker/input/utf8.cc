#include "worker/input/utf8.h"

#include <cstring>

namespace podium {
namespace {

// Whether the eight bytes from `at` on are ASCII, all at once.
bool is_ascii(std::string_view text, std::size_t at) {
  std::uint64_t bytes = 0;
  if (text.size() - at < sizeof(bytes)) return false;
  std::memcpy(&bytes, text.data() + at, sizeof(bytes));
  return (bytes & 0x8080808080808080) == 0;
}

bool is_control(UChar32 c) { return (c >= 0 && c < 0x20) || (c >= 0x7F && c < 0xA0); }

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    if (is_ascii(text, position)) {
      position += sizeof(std::uint64_t);
      continue;
    }
    const std::size_t begin = position;
    if (next_character(text, position) < 0) return begin;
  }
  return std::string_view::npos;
}

std::size_t find_control(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    if (is_control(next_character(text, position))) return begin;
  }
  return std::string_view::npos;
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string shown;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    const bool is_bare = is_control(next_character(text, position)) && kept.find(text[begin]) == kept.npos;
    shown.append(is_bare ? " " : text.substr(begin, position - begin));
  }
  return shown;
}

void split_characters(std::string_view text, const std::function<void(std::string_view)>& sink) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    next_character(text, position);
    sink(text.substr(begin, position - begin));
  }
}

}  // namespace podium
