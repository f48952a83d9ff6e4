// Numbers of characters for places in a text that are asked for one after another.
#pragma once

#include <string_view>

#include "worker/input/utf8.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

class CharacterCounter {
 public:
  explicit CharacterCounter(std::string_view text) : text_(text) {}

  // How many characters begin before byte `at`.
  std::int32_t before(std::size_t at) {
    if (at < at_) *this = CharacterCounter(text_);
    count_ += count_characters(text_.substr(at_, at - at_));
    at_ = at;
    return count_;
  }
  // The characters that bytes [begin, end) are of, each as a whole.
  CharacterRange range(std::size_t begin, std::size_t end) {
    const std::int32_t first = before(begin + 1) - 1;
    return {first, before(end)};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int32_t count_ = 0;
};

}  // namespace podium
