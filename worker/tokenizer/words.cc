#include "worker/tokenizer/words.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <string>

#include "common/base/check.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

const icu::Normalizer2& canonical_decomposition() {
  static const icu::Normalizer2* const instance = [] {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* found = icu::Normalizer2::getNFDInstance(status);
    PODIUM_CHECK(U_SUCCESS(status), "ICU has no normalisation data");
    return found;
  }();
  return *instance;
}

bool is_space(UChar32 c) {
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return true;
  return c >= 0x80 && (U_GET_GC_MASK(c) & U_GC_Z_MASK) != 0;
}

bool is_dropped(UChar32 c) {
  if (c == 0 || c == 0xFFFD) return true;
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  return (U_GET_GC_MASK(c) & (U_GC_C_MASK & ~U_GC_CN_MASK)) !=
         0;  // the reference keeps unassigned characters
}

bool is_cjk(UChar32 c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(UChar32 c) {
  if (c < 0x80)
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  return (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

// Gathers characters into words and hands each over when it ends.
class WordBuilder {
 public:
  explicit WordBuilder(const WordSink& sink) : sink_(sink) {}

  void add(UChar32 c) {
    if (is_punctuation(c)) {
      add_alone(c);
    } else {
      append(c);
    }
  }

  void add_alone(UChar32 c) {
    finish();
    append(c);
    finish();
  }

  void finish() {
    if (characters_ > 0) sink_(word_, characters_);
    word_.clear();
    characters_ = 0;
  }

 private:
  void append(UChar32 c) {
    char bytes[U8_MAX_LENGTH];
    int32_t length = 0;
    U8_APPEND_UNSAFE(bytes, length, c);
    word_.append(bytes, static_cast<std::size_t>(length));
    ++characters_;
  }

  const WordSink& sink_;
  std::string word_;
  int characters_ = 0;
};

// Lower case, canonical decomposition, without the non-spacing marks.
void add_uncased(UChar32 c, WordBuilder& words) {
  if (c < 0x80) return words.add(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const UChar32 lower = u_tolower(c);
  icu::UnicodeString parts;
  if (!canonical_decomposition().getDecomposition(lower, parts)) parts.setTo(lower);
  for (int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1)) {
    const UChar32 part = parts.char32At(i);
    if (u_charType(part) != U_NON_SPACING_MARK) words.add(part);
  }
}

}  // namespace

void split_words(std::string_view text, bool lowercase, const WordSink& sink) {
  WordBuilder words(sink);
  for (std::size_t position = 0; position < text.size();) {
    const UChar32 c = next_character(text, position);
    if (is_space(c)) {
      words.finish();
    } else if (c < 0 || is_dropped(c)) {
      continue;
    } else if (is_cjk(c)) {
      words.add_alone(c);
    } else if (lowercase) {
      add_uncased(c, words);
    } else {
      words.add(c);
    }
  }
  words.finish();
}

}  // namespace podium
