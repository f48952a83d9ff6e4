#include "worker/tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

namespace podium {
namespace {

constexpr int kLettersEnd = 0x100 + 68;  // 68 bytes do not stand for themselves

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Alphabet {
  std::array<std::uint16_t, 256> letter{};          // of each byte
  std::array<std::int16_t, kLettersEnd> meaning{};  // of each letter; -1: none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.meaning.fill(-1);
  std::uint16_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const std::uint16_t letter = stands_for_itself(byte) ? static_cast<std::uint16_t>(byte) : next++;
    alphabet.letter[static_cast<std::size_t>(byte)] = letter;
    alphabet.meaning[letter] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

// The letter that `text` starts with, taken off it, or -1; all letters are below U+0800.
int take_letter(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int first = byte(0);
  if (first < 0x80) {
    text.remove_prefix(1);
    return first;
  }
  if ((first & 0xE0) != 0xC0 || text.size() < 2 || (byte(1) & 0xC0) != 0x80) return -1;
  const int letter = (first & 0x1F) << 6 | (byte(1) & 0x3F);
  text.remove_prefix(2);
  return letter;
}

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const int letter = kAlphabet.letter[static_cast<unsigned char>(c)];
    if (letter < 0x80) {
      text += static_cast<char>(letter);
    } else {
      text += static_cast<char>(0xC0 | letter >> 6);
      text += static_cast<char>(0x80 | (letter & 0x3F));
    }
  }
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const int letter = take_letter(text);
    if (letter < 0 || letter >= kLettersEnd) return std::nullopt;
    const int meaning = kAlphabet.meaning[static_cast<std::size_t>(letter)];
    if (meaning < 0) return std::nullopt;
    bytes += static_cast<char>(meaning);
  }
  return bytes;
}

}  // namespace podium
