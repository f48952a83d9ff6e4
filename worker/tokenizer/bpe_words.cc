#include "worker/tokenizer/bpe_words.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

#include "worker/input/utf8.h"

namespace podium {
namespace {

enum class Kind : std::uint8_t { letter, number, space, other };

constexpr std::array<std::string_view, 7> kContractions{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

constexpr std::array<Kind, 128> make_ascii_kinds() {
  std::array<Kind, 128> kinds{};
  kinds.fill(Kind::other);
  for (std::size_t c = '0'; c <= '9'; ++c) kinds[c] = Kind::number;
  for (std::size_t c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 'a' + 'A'] = Kind::letter;
  for (std::size_t c = '\t'; c <= '\r'; ++c) kinds[c] = Kind::space;
  kinds[' '] = Kind::space;
  return kinds;
}

constexpr std::array<Kind, 128> kAsciiKinds = make_ascii_kinds();

Kind kind_of(UChar32 c) {
  const std::uint32_t category = U_GET_GC_MASK(c);
  if (category & U_GC_L_MASK) return Kind::letter;
  if (category & U_GC_N_MASK) return Kind::number;
  return u_isUWhiteSpace(c) ? Kind::space : Kind::other;
}

struct Character {
  Kind kind;
  std::size_t bytes;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {kAsciiKinds[first], 1};
  std::size_t end = at;
  const Kind kind = kind_of(next_character(text, end));
  return {kind, end - at};
}

// Where the characters of `kind` that begin at `at` end.
std::size_t run_end(std::string_view text, std::size_t at, Kind kind) {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (next.kind != kind) break;
    at += next.bytes;
  }
  return at;
}

// A word that follows white space keeps the last of it for itself, so a run before one ends a character
// early.
std::size_t white_space(std::string_view text) {
  std::size_t last = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = character_at(text, end);
    if (next.kind != Kind::space) return last > 0 ? last : end;
    last = end;
    end += next.bytes;
  }
  return end;
}

}  // namespace

std::size_t first_bpe_word(std::string_view text) {
  if (text[0] == '\'')
    for (const std::string_view contraction : kContractions)
      if (text.starts_with(contraction)) return contraction.size();
  const std::size_t begin = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Kind kind = character_at(text, begin).kind;
  return kind == Kind::space ? white_space(text) : run_end(text, begin, kind);
}

}  // namespace podium
