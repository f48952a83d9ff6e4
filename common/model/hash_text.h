// XXH3-64 as text, wherever a hash is told.
#pragma once

#include <string>

namespace podium {

inline bool is_xxh3_text(const std::string& text) {
  constexpr std::size_t kDigits = 16;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace podium
