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

}  // namespace podium
