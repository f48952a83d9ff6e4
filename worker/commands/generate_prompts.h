// The prompts of `generate`: from where they come, as tokens, and whether they fit the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/commands/json_lines.h"
#include "worker/generate/prompt.h"

namespace podium {

struct Prompt {
  std::string origin;  // how messages name it
  LineId id;
  std::string text;
  std::vector<std::int32_t> ids;
};

// A line of `path` ("-": standard input) is an object with a text "prompt" and maybe an "id"; blank lines are
// passed over.
// Throws BadData naming the line.
std::vector<Prompt> read_prompts(const std::string& path);

// Sets the ids. A prompt without a token begins with the token that ends a text, of `ends` the last. Throws
// BadData where there is none.
void encode_prompts(const BpeTokenizer& tokenizer, std::span<const std::int32_t> ends,
                    std::vector<Prompt>& prompts);

// How many tokens may follow the prompt, which may become shorter. Throws BadData that names a remedy,
// Failure(bad_spec) where no prompt leaves room for max_tokens.
int room_after(const PromptRule& rule, Prompt& prompt);

}  // namespace podium
