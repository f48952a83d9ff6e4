#include "worker/commands/generate_prompts.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/commands/json_lines.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"

namespace podium {

std::vector<Prompt> read_prompts(const std::string& path) {
  std::vector<Prompt> prompts;
  for_each_named_line(path, [&](std::string_view line, const LinePlace& place) {
    if (is_blank(line)) return;
    const JsonLine object(line, place);
    prompts.push_back({object.origin(), object.id(), object.text("prompt"), {}});
  });
  if (prompts.empty()) throw BadData((path == "-" ? "standard input" : path) + " has no prompt");
  return prompts;
}

void encode_prompts(const BpeTokenizer& tokenizer, std::span<const std::int32_t> ends,
                    std::vector<Prompt>& prompts) {
  for (Prompt& prompt : prompts) {
    tokenizer.encode(prompt.text, prompt.ids);
    if (!prompt.ids.empty()) continue;
    if (ends.empty())
      throw BadData(
          prompt.origin +
          " is empty, and neither the model nor its tokenizer names a token that ends a text, to begin "
          "one with");
    prompt.ids.push_back(ends.back());
  }
}

// The last token needs no position, for nothing is computed of it.
int fit_prompt(const PromptRule& rule, Prompt& prompt) {
  const auto length = static_cast<int>(std::ssize(prompt.ids));
  if (rule.max_tokens && *rule.max_tokens > rule.positions)
    refuse_spec(fmt::format("--max-tokens {} is more than the model's {} positions", *rule.max_tokens,
                            rule.positions));
  const int usual = rule.truncate ? std::clamp(rule.positions / 2, 1, kUsualTokens) : 1;
  const int wanted = rule.max_tokens.value_or(usual);
  const int longest = rule.positions + 1 - wanted;
  if (length > longest) {
    if (!rule.truncate)
      throw BadData(fmt::format(
          "{} has {} tokens, and {}the model's {} positions take {}: shorten it, or keep its end alone with "
          "--truncate-prompt",
          prompt.origin, length, rule.max_tokens ? fmt::format("with --max-tokens {} ", wanted) : "",
          rule.positions, longest));
    prompt.ids.erase(prompt.ids.begin(), prompt.ids.end() - longest);
  }
  const int room = rule.positions + 1 - static_cast<int>(std::ssize(prompt.ids));
  return rule.max_tokens.value_or(std::min(room, kUsualTokens));
}

}  // namespace podium
