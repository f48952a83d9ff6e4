// UTF-8 text of any size, one character after another.
#pragma once

#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace podium {

// The character at `at`, which moves behind it; negative where the bytes are no UTF-8.
inline UChar32 next_character(std::string_view text, std::size_t& at) {
  int32_t length = 0;
  UChar32 c = 0;
  const auto left = static_cast<int32_t>(std::min<std::size_t>(text.size() - at, U8_MAX_LENGTH));
  U8_NEXT(text.data() + at, length, left, c);
  at += static_cast<std::size_t>(length);
  return c;
}

inline void append_utf8(UChar32 c, std::string& text) {
  char bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  text.append(bytes, static_cast<std::size_t>(length));
}

// How many characters begin in `text`.
inline std::int32_t count_characters(std::string_view text) {
  std::int32_t count = 0;
  for (const char byte : text) count += (byte & 0xC0) != 0x80;
  return count;
}

// Offset of the first byte that is no valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// Offset of the first control character (U+0000 to U+001F, U+007F to U+009F), or npos.
std::size_t find_control(std::string_view text);
// With a space for each of them but those of `kept`: a terminal would do what they say.
std::string without_controls(std::string_view text, std::string_view kept = "");

// Calls `sink` with each code point's bytes, in order.
void split_characters(std::string_view text, const std::function<void(std::string_view)>& sink);

}  // namespace podium
