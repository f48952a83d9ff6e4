// UTF-8 text of any size, one character after another.
#pragma once

#include <unicode/utf8.h>

#include <algorithm>
#include <functional>
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

// Offset of the first byte that is no valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// Calls `sink` with each code point's bytes, in order.
void split_characters(std::string_view text, const std::function<void(std::string_view)>& sink);

}  // namespace podium
