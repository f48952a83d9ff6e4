// A prompt as tokens, and how many may follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "worker/tokenizer/bpe_tokenizer.h"

namespace podium {

// A text without a token begins with the token that ends a text, of `ends` the last; it has none where there
// is none.
std::vector<std::int32_t> prompt_tokens(const BpeTokenizer& tokenizer, std::span<const std::int32_t> ends,
                                        const std::string& text);

struct PromptRule {
  int positions = 0;              // for prompt and text together; the last token of the text needs none
  std::optional<int> max_tokens;  // wanted, at most the positions; else as many as fit, at most kUsualTokens
  bool truncate = false;  // a prompt that leaves too little room, or less than usual, loses its beginning
};
inline constexpr int kUsualTokens = 128;

// The most tokens of a prompt: what is longer is refused or truncated to that.
int longest_prompt(const PromptRule& rule);

// How many tokens may follow the prompt, which may become shorter. Nothing where it is too long.
std::optional<int> fit_prompt(const PromptRule& rule, std::vector<std::int32_t>& prompt);

}  // namespace podium
