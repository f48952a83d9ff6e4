// BERT's basic tokenization (Devlin et al., 2018): text is normalised (clean, isolate CJK characters, strip
// accents, lower-case) and split into words at white space and around punctuation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/input/utf8.h"
#include "worker/tokenizer/bert_characters.h"
#include "worker/tokenizer/tokenizer.h"

namespace podium {

// The switches of Hugging Face's BertNormalizer.
struct BertRules {
  bool clean_text = true;  // drop control characters; all white space becomes a space
  bool isolate_ideographs = true;
  bool strip_accents = true;
  bool lowercase = true;

  // The published models strip accents if they lower-case.
  static BertRules for_case(bool lowercase) { return {.strip_accents = lowercase, .lowercase = lowercase}; }
};

struct NormalizedText {
  std::string text;
  std::vector<std::int32_t> places;  // for each byte, the character of the source that it comes from

  // The characters of the source from the first to the last that bytes [begin, end) come from.
  CharacterRange range(std::size_t begin, std::size_t end) const {
    return {places[begin], places[end - 1] + 1};
  }
};

// Differs from the reference in one place: a mark that is no accent (such as U+302F) keeps its own place also
// beside accents, where the reference reports that of the accent it changes places with.
class BertNormalizer {
 public:
  explicit BertNormalizer(const BertRules& rules);

  // Appends the normalised `text`, which is valid UTF-8. `place` is the index of its first character in the
  // source; without it no places are kept.
  void normalize(std::string_view text, std::optional<std::int32_t> place, NormalizedText& out) const;

 private:
  void add_ascii(std::string_view text, std::optional<std::int32_t> place, NormalizedText& out) const;
  void add_other(UChar32 c, std::string& text) const;

  BertRules rules_;
  std::array<char, 128> ascii_{};  // what each becomes
  std::array<bool, 128> keeps_{};
};

// Calls sink(begin, end) with the bytes of each word of normalised text.
template <typename Sink>
void for_each_word(std::string_view text, const Sink& sink) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    const auto first = static_cast<unsigned char>(text[at]);
    std::uint8_t kind = 0;
    if (first < 0x80) {
      kind = kAsciiBertCharacters[first];
      ++at;
    } else {
      kind = bert_character(next_character(text, at));
    }
    if ((kind & (kBertSpace | kBertPunctuation)) == 0) continue;
    if (here > begin) sink(begin, here);
    if (kind & kBertPunctuation) sink(here, at);
    begin = at;
  }
  if (text.size() > begin) sink(begin, text.size());
}

}  // namespace podium
