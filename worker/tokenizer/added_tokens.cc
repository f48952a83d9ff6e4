#include "worker/tokenizer/added_tokens.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <unordered_set>

#include "worker/input/utf8.h"

namespace podium {
namespace {

// Unicode's \w (UTS 18).
bool is_of_word(UChar32 c) {
  return (U_GET_GC_MASK(c) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0 ||
         u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL);
}

// The character that ends at `at`, which moves before it.
UChar32 previous_character(std::string_view text, std::size_t& at) {
  do --at;
  while (at > 0 && (text[at] & 0xC0) == 0x80);
  std::size_t begin = at;
  return next_character(text, begin);
}

bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (end < text.size() && is_of_word(next_character(text, end))) return false;
  return begin == 0 || !is_of_word(previous_character(text, begin));
}

}  // namespace

std::size_t before_space(std::string_view text, std::size_t at) {
  for (std::size_t begin = at; begin > 0; at = begin)
    if (!u_isUWhiteSpace(previous_character(text, begin))) break;
  return at;
}

std::size_t behind_space(std::string_view text, std::size_t at) {
  for (std::size_t end = at; end < text.size(); at = end)
    if (!u_isUWhiteSpace(next_character(text, end))) break;
  return at;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
  std::unordered_set<std::string> known{""};
  for (AddedToken& token : tokens)
    if (known.insert(token.content).second) tokens_.push_back(std::move(token));
  std::vector<ByteTrie::Entry> entries;
  for (const AddedToken& token : tokens_) {
    entries.emplace_back(token.content, static_cast<std::int32_t>(entries.size()));
    begins_[static_cast<unsigned char>(token.content.front())] = true;
  }
  trie_ = ByteTrie(std::move(entries));
}

bool AddedTokens::next(std::string_view text, std::size_t done, Found& found) const {
  for (std::size_t at = found.searched; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const ByteTrie::Match match = trie_.longest(text.substr(at));
    if (match.value == ByteTrie::kNone) continue;
    const AddedToken& token = tokens_[static_cast<std::size_t>(match.value)];
    const std::size_t end = at + match.bytes;
    if (token.single_word && !stands_alone(text, at, end)) {
      at = end - 1;
      continue;
    }
    found = {at, end, token.id, end};
    if (token.lstrip) found.begin = std::max(done, before_space(text, at));
    if (token.rstrip) found.end = behind_space(text, end);
    return true;
  }
  return false;
}

}  // namespace podium
