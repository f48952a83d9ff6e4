// The words of a filter. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace podium::mlflow {

enum class WordKind {
  plain,   // metrics.loss, 0.5, AND
  single,  // 'text'
  other,   // "text", `text`: text or a name
  sign,    // = != < <= > >= ( ) ,
  end
};

struct Word {
  WordKind kind = WordKind::end;
  std::string text;     // without its quotes
  bool joined = false;  // follows the word before without a space
};

// With a last one of kind `end`.
Result<std::vector<Word>> split_words(std::string_view text);

bool is_word(const Word& word, std::string_view upper_case);  // in any case

}  // namespace podium::mlflow
