#include "worker/tokenizer/bpe_vocabulary.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"
#include "worker/input/text_files.h"
#include "worker/input/utf8.h"
#include "worker/tokenizer/byte_alphabet.h"

namespace podium {
namespace {

BpeMergeList parse_merges(std::string_view text, const std::string& origin) {
  BpeMergeList merges{.origin = origin + ":"};
  std::int64_t number = 0;
  for_each_line_in(text, [&](std::string_view line) {
    ++number;
    if (number == 1 && line.starts_with("#version")) {
      merges.first = 2;
      return;
    }
    if (find_invalid_utf8(line) != std::string_view::npos)
      throw BadData(merges.origin + std::to_string(number) + ": the line is not UTF-8");
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos)
      throw BadData(merges.origin + std::to_string(number) +
                    ": a merge is two tokens with a space between them");
    merges.pairs.emplace_back(line.substr(0, space), line.substr(space + 1));
  });
  return merges;
}

std::int32_t need(const TokenIds& ids, const std::string& name, const std::string& origin) {
  const auto found = ids.find(name);
  if (found == ids.end()) throw BadData(origin + ": the vocabulary lacks the token " + name);
  return found->second;
}

// "<|endoftext|>", "<s>", "[PAD]": a token that stands for no text.
bool is_special(std::string_view token) {
  return token.size() > 2 &&
         ((token.front() == '<' && token.back() == '>') || (token.front() == '[' && token.back() == ']'));
}

// Every token beside the bytes and special ones is made by a merge, but for a few that others have added. A
// list of merges that is cut off, or another vocabulary's, leaves more out of reach.
void check_reach(const std::vector<std::string>& tokens, const std::vector<bool>& made,
                 const BpeMergeList& merges) {
  constexpr std::ptrdiff_t kByteTokens = 256, kUnmade = 64;
  std::ptrdiff_t unmade = -kByteTokens;
  for (std::size_t id = 0; id < tokens.size(); ++id)
    unmade += made[id] || tokens[id].empty() || is_special(tokens[id]) ? 0 : 1;
  if (unmade <= kUnmade) return;
  throw BadData(merges.origin + " its " + std::to_string(merges.pairs.size()) + " merges leave " +
                std::to_string(unmade) + " of the vocabulary's " + std::to_string(tokens.size()) +
                " tokens out of reach; it is cut off, or belongs to another vocabulary");
}

}  // namespace

BpeVocabulary BpeVocabulary::load(const std::filesystem::path& vocab_json,
                                  const std::filesystem::path& merges_txt, EndOfText end_of_text) {
  return BpeVocabulary(read_input(vocab_json), vocab_json.string(), read_input(merges_txt),
                       merges_txt.string(), end_of_text);
}

BpeVocabulary::BpeVocabulary(std::string_view vocab_json, const std::string& vocab_origin,
                             std::string_view merges_txt, const std::string& merges_origin,
                             EndOfText end_of_text)
    : BpeVocabulary(parse_token_ids(vocab_json, vocab_origin), vocab_origin,
                    parse_merges(merges_txt, merges_origin), end_of_text) {}

BpeVocabulary::BpeVocabulary(const TokenIds& ids, const std::string& origin, const BpeMergeList& merges,
                             EndOfText end_of_text)
    : tokens_(tokens_by_id(ids, origin)), merges_(merges.pairs.size()) {
  for (std::string& token : tokens_) token = from_byte_alphabet(token).value_or(token);
  if (end_of_text == EndOfText::needed || ids.contains(std::string(kEndOfText)))
    end_of_text_ = need(ids, std::string(kEndOfText), origin);
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte)
    byte_tokens_[byte] = need(ids, to_byte_alphabet(std::string(1, static_cast<char>(byte))), origin);

  std::vector<bool> made(tokens_.size(), false);
  for (const auto& [left, right] : merges.pairs) {
    const auto rank = static_cast<std::int32_t>(merges_.size());
    const auto refuse = [&](const std::string& what) {
      throw BadData(merges.origin + std::to_string(merges.first + rank) + ": " + what);
    };
    const auto id_of = [&](const std::string& token) {
      const auto found = ids.find(token);
      if (found == ids.end()) refuse("the vocabulary lacks the token \"" + token + "\"");
      return found->second;
    };
    const std::int32_t left_id = id_of(left), right_id = id_of(right), token = id_of(left + right);
    if (!merges_.add(left_id, right_id, {rank, token}))
      refuse("the merge \"" + left + " " + right + "\" appears a second time");
    made[static_cast<std::size_t>(token)] = true;
  }
  check_reach(tokens_, made, merges);
}

std::string BpeVocabulary::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    PODIUM_CHECK(id >= 0 && id < size(), "no token has id " + std::to_string(id));
    text += token(id);
  }
  return text;
}

}  // namespace podium
