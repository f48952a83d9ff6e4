#include "worker/commands/generate_prompts.h"

#include <spdlog/fmt/fmt.h>

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
    object.refuse_others({"prompt"});
  });
  if (prompts.empty()) throw BadData((path == "-" ? "standard input" : path) + " has no prompt");
  return prompts;
}

void encode_prompts(const BpeTokenizer& tokenizer, std::span<const std::int32_t> ends,
                    std::vector<Prompt>& prompts) {
  for (Prompt& prompt : prompts) {
    prompt.ids = prompt_tokens(tokenizer, ends, prompt.text);
    if (prompt.ids.empty())
      throw BadData(
          prompt.origin +
          " is empty, and neither the model nor its tokenizer names a token that ends a text, to begin "
          "one with");
  }
}

int room_after(const PromptRule& rule, Prompt& prompt) {
  if (rule.max_tokens && *rule.max_tokens > rule.positions)
    refuse_spec(fmt::format("--max-tokens {} is more than the model's {} positions", *rule.max_tokens,
                            rule.positions));
  const auto length = std::ssize(prompt.ids);
  if (const std::optional<int> room = fit_prompt(rule, prompt.ids)) return *room;
  throw BadData(fmt::format(
      "{} has {} tokens, and {}the model's {} positions take {}: shorten it, or keep its end alone with "
      "--truncate-prompt",
      prompt.origin, length, rule.max_tokens ? fmt::format("with --max-tokens {} ", *rule.max_tokens) : "",
      rule.positions, longest_prompt(rule)));
}

}  // namespace podium
