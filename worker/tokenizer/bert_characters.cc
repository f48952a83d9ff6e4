#include "worker/tokenizer/bert_characters.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <memory>
#include <vector>

#include "common/base/check.h"
#include "worker/input/utf8.h"

namespace podium {
namespace {

constexpr UChar32 kTableEnd = 0x10000;
constexpr std::uint8_t kReferenceVersion = 8;  // of Unicode
constexpr UChar32 kDottedCapitalI = 0x130;
constexpr UChar32 kDotAbove = 0x307;

bool is_known(UChar32 c) {
  UVersionInfo age;
  u_charAge(c, age);
  return age[0] > 0 && age[0] <= kReferenceVersion;
}

// The general category in Unicode 8, as a mask.
std::uint32_t category(UChar32 c) {
  switch (c) {  // those that a later version has moved to or from punctuation and marks
    case 0x166D:
    case 0x111C9:
      return U_GC_PO_MASK;
    case 0x1734:
      return U_GC_MN_MASK;
    case 0x1885:
    case 0x1886:
    case 0xA9BD:
      return U_GC_LO_MASK;
    default:
      return is_known(c) ? U_GET_GC_MASK(c) : U_GC_CN_MASK;
  }
}

bool is_accent(UChar32 c) { return (category(c) & U_GC_MN_MASK) != 0; }

bool is_dropped(UChar32 c) {
  return c == 0xFFFD || (category(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0;
}

// U+2B820 to U+2B91F are missing in the reference, too.
bool is_ideograph(UChar32 c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_punctuation(UChar32 c) { return (category(c) & U_GC_P_MASK) != 0; }

// The canonical decomposition, or nothing where the character stays whole.
icu::UnicodeString decomposed(UChar32 c) {
  static const icu::Normalizer2* const nfd = [] {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* found = icu::Normalizer2::getNFDInstance(status);
    PODIUM_CHECK(U_SUCCESS(status), "ICU has no normalisation data");
    return found;
  }();
  icu::UnicodeString parts;
  if (is_known(c)) nfd->getDecomposition(c, parts);
  return parts;
}

std::uint8_t find_out(UChar32 c) {
  const bool folds = u_tolower(c) != c || is_accent(c) || !decomposed(c).isEmpty();
  return static_cast<std::uint8_t>((u_isUWhiteSpace(c) ? kBertSpace : 0) |
                                   (is_dropped(c) ? kBertDropped : 0) |
                                   (is_punctuation(c) ? kBertPunctuation : 0) |
                                   (is_ideograph(c) ? kBertIdeograph : 0) | (folds ? kBertFolds : 0));
}

void append_lower(UChar32 c, bool lowercase, std::string& text) {
  append_utf8(lowercase ? u_tolower(c) : c, text);
  if (lowercase && c == kDottedCapitalI)
    append_utf8(kDotAbove, text);  // all of Unicode's special casing here
}

}  // namespace

std::uint8_t bert_character(UChar32 c) {
  static const std::vector<std::uint8_t> table = [] {
    std::vector<std::uint8_t> made(kTableEnd);
    for (UChar32 each = 0; each < kTableEnd; ++each) made[static_cast<std::size_t>(each)] = find_out(each);
    return made;
  }();
  return c < kTableEnd ? table[static_cast<std::size_t>(c)] : find_out(c);
}

void append_folded(UChar32 c, bool strip_accents, bool lowercase, std::string& text) {
  const icu::UnicodeString parts = strip_accents ? decomposed(c) : icu::UnicodeString();
  if (parts.isEmpty()) {
    if (!strip_accents || !is_accent(c)) append_lower(c, lowercase, text);
    return;
  }
  for (int32_t i = 0; i < parts.length(); i = parts.moveIndex32(i, 1)) {
    const UChar32 part = parts.char32At(i);
    if (!is_accent(part)) append_lower(part, lowercase, text);
  }
}

}  // namespace podium
