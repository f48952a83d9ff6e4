#include "worker/input/utf8.h"

namespace podium {

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    if (next_character(text, position) < 0) return begin;
  }
  return std::string_view::npos;
}

void split_characters(std::string_view text, const std::function<void(std::string_view)>& sink) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    next_character(text, position);
    sink(text.substr(begin, position - begin));
  }
}

}  // namespace podium
