// What BERT's basic tokenization makes of a character. The reference implementation takes general categories
// and decompositions from tables of Unicode 8, so a younger character is neither punctuation nor accent nor
// control here, whatever ICU says of it.
#pragma once

#include <unicode/umachine.h>

#include <array>
#include <cstdint>
#include <string>

namespace podium {

enum BertCharacter : std::uint8_t {
  kBertSpace = 1,        // White_Space
  kBertDropped = 2,      // NUL, U+FFFD, control, format and private use, but for tab and line ends
  kBertPunctuation = 4,  // a word of its own
  kBertIdeograph = 8,    // likewise: what the authors call a Chinese character
  kBertFolds = 16,       // append_folded may change it
};

// A set of those for each ASCII character.
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

// The same for any other character.
std::uint8_t bert_character(UChar32 c);

// Appends the character, decomposed and without accents (Mn) and in lower case where that is asked for.
void append_folded(UChar32 c, bool strip_accents, bool lowercase, std::string& text);

}  // namespace podium
