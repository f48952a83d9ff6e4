#include "worker/generate/prompt.h"

#include <algorithm>

namespace podium {

std::vector<std::int32_t> prompt_tokens(const BpeTokenizer& tokenizer, std::span<const std::int32_t> ends,
                                        const std::string& text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  if (ids.empty() && !ends.empty()) ids.push_back(ends.back());
  return ids;
}

int longest_prompt(const PromptRule& rule) {
  const int usual = rule.truncate ? std::clamp(rule.positions / 2, 1, kUsualTokens) : 1;
  return rule.positions + 1 - rule.max_tokens.value_or(usual);
}

std::optional<int> fit_prompt(const PromptRule& rule, std::vector<std::int32_t>& prompt) {
  const int longest = longest_prompt(rule);
  if (std::ssize(prompt) > longest) {
    if (!rule.truncate) return std::nullopt;
    prompt.erase(prompt.begin(), prompt.end() - longest);
  }
  const int room = rule.positions + 1 - static_cast<int>(std::ssize(prompt));
  return rule.max_tokens.value_or(std::min(room, kUsualTokens));
}

}  // namespace podium
