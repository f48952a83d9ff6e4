// The properties of characters that BERT's basic tokenization uses. The reference implementation has the
// tables of Unicode 8, so a character of a later version counts as unassigned here, whatever ICU says.
#pragma once

#include <unicode/umachine.h>

#include <array>
#include <cstdint>
#include <string>

namespace podium {

enum BertCharacter : std::uint8_t {
  kBertSpace = 1,        // White_Space
  kBertDropped = 2,      // U+FFFD and categories Cc, Cf and Co, except tab, \n and \r
  kBertPunctuation = 4,  // is a word of its own
  kBertIdeograph = 8,    // so is this: what the authors call a Chinese character
  kBertFolds = 16,       // append_folded may change it
};

// The set of properties of each ASCII character.
constexpr std::array<std::uint8_t, 128> kAsciiBertCharacters = [] {
  std::array<std::uint8_t, 128> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
    if (c < ' ' || c == 0x7F) kinds[c] = kBertDropped;
    if (c > ' ' && c < 0x7F && !letter && !digit) kinds[c] = kBertPunctuation;
    if (c >= 'A' && c <= 'Z') kinds[c] = kBertFolds;
  }
  for (const std::size_t c : {' ', '\t', '\n', '\r'}) kinds[c] = kBertSpace;
  for (const std::size_t c : {'\v', '\f'}) kinds[c] |= kBertSpace;
  return kinds;
}();

// The set of properties of any other character.
std::uint8_t bert_character(UChar32 c);

// Appends the character: decomposed and without accents (Mn) if `strip_accents`, in lower case if
// `lowercase`.
void append_folded(UChar32 c, bool strip_accents, bool lowercase, std::string& text);

}  // namespace podium
