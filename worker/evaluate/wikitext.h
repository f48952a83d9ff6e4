// WikiText as language models are measured on it (Megatron-LM, tasks/zeroshot_gpt): its tokenised form turned
// back into plain text, and its words counted, by which the perplexity is normalised whatever the tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace podium {

// What Megatron-LM's wikitext_detokenizer returns: " @-@ " becomes "-", no space before punctuation and
// within brackets and quotes, and so on. `text` is UTF-8.
std::string detokenize_wikitext(std::string_view text);

// Words of the text as it is, without the white space at its ends: one more than there are single spaces.
std::int64_t count_wikitext_words(std::string_view text);

}  // namespace podium
