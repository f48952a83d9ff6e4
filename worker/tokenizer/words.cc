#include "worker/tokenizer/words.h"

#include <algorithm>

namespace podium {

BertNormalizer::BertNormalizer(const BertRules& rules) : rules_(rules) {
  for (std::size_t c = 0; c < ascii_.size(); ++c) {
    const std::uint8_t kind = kAsciiBertCharacters[c];
    keeps_[c] = !(rules.clean_text && (kind & kBertDropped));
    ascii_[c] = static_cast<char>(c);
    if (rules.clean_text && (kind & kBertSpace)) ascii_[c] = ' ';
    if (rules.lowercase && (kind & kBertFolds)) ascii_[c] = static_cast<char>(c + 'a' - 'A');
  }
}

void BertNormalizer::normalize(std::string_view text, std::optional<std::int32_t> place,
                               NormalizedText& out) const {
  for (std::size_t at = 0; at < text.size();) {
    const auto other = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                    [](char byte) { return (byte & 0x80) != 0; });
    const std::string_view ascii(text.begin() + static_cast<std::ptrdiff_t>(at), other);
    add_ascii(ascii, place, out);
    at += ascii.size();
    if (place) *place += static_cast<std::int32_t>(ascii.size());
    if (at == text.size()) break;
    add_other(next_character(text, at), out.text);
    if (place) out.places.resize(out.text.size(), (*place)++);
  }
}

void BertNormalizer::add_ascii(std::string_view text, std::optional<std::int32_t> place,
                               NormalizedText& out) const {
  std::size_t end = out.text.size();
  out.text.resize(end + text.size());
  if (place) out.places.resize(end + text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    out.text[end] = ascii_[c];
    if (place) out.places[end] = *place + static_cast<std::int32_t>(i);
    end += keeps_[c];
  }
  out.text.resize(end);
  if (place) out.places.resize(end);
}

void BertNormalizer::add_other(UChar32 c, std::string& text) const {
  if (c < 0) return;  // no UTF-8
  const std::uint8_t kind = bert_character(c);
  if (rules_.clean_text && (kind & kBertDropped)) return;
  if (rules_.clean_text && (kind & kBertSpace)) {
    text += ' ';
    return;
  }
  const bool alone = rules_.isolate_ideographs && (kind & kBertIdeograph);
  if (alone) text += ' ';
  if (kind & kBertFolds) {
    append_folded(c, rules_.strip_accents, rules_.lowercase, text);
  } else {
    append_utf8(c, text);
  }
  if (alone) text += ' ';
}

}  // namespace podium
