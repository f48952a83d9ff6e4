// BERT's rules for splitting text into words (Devlin et al., 2018, "basic tokenization"): clean, isolate CJK
// characters, optionally lower-case and drop accents, then split at white space and around punctuation.
#pragma once

#include <functional>
#include <string_view>

namespace podium {

// Words are UTF-8 and valid only during the call; `characters` counts code points. The text must be valid
// UTF-8.
using WordSink = std::function<void(std::string_view word, int characters)>;

void split_words(std::string_view text, bool lowercase, const WordSink& sink);

// Offset of the first byte that is no valid UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

// Calls `sink` with each code point's bytes, in order.
void split_characters(std::string_view text, const std::function<void(std::string_view)>& sink);

}  // namespace podium
