#include "worker/input/sentence_splitter.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <stdexcept>
#include <string>

namespace podium {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

void check_icu(UErrorCode status, const char* what) {
  if (U_FAILURE(status))
    throw std::runtime_error(std::string("ICU cannot ") + what + ": " + u_errorName(status));
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) + 1 - begin);
}

}  // namespace

class SentenceSplitter::Breaks {
 public:
  Breaks() {
    UErrorCode status = U_ZERO_ERROR;
    iterator_.reset(icu::BreakIterator::createSentenceInstance(icu::Locale("en@ss=standard"), status));
    check_icu(status, "find sentences");
  }
  ~Breaks() { utext_close(text_); }

  icu::BreakIterator& over(std::string_view text) {
    UErrorCode status = U_ZERO_ERROR;
    text_ = utext_openUTF8(text_, text.data(), static_cast<std::int64_t>(text.size()), &status);
    iterator_->setText(text_, status);
    check_icu(status, "read text");
    return *iterator_;
  }

 private:
  std::unique_ptr<icu::BreakIterator> iterator_;
  UText* text_ = nullptr;
};

SentenceSplitter::SentenceSplitter() : breaks_(std::make_unique<Breaks>()) {}
SentenceSplitter::~SentenceSplitter() = default;

void SentenceSplitter::split(std::string_view text,
                             const std::function<void(std::string_view sentence)>& sink) {
  icu::BreakIterator& breaks = breaks_->over(text);
  std::int32_t begin = breaks.first();
  for (std::int32_t end = breaks.next(); end != icu::BreakIterator::DONE; begin = end, end = breaks.next()) {
    const std::string_view sentence =
        without_spaces(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    if (!sentence.empty()) sink(sentence);
  }
}

}  // namespace podium
