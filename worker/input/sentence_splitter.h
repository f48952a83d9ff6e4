// Cuts text into sentences: by Unicode's rules (UAX #29), without a break after the abbreviations of English,
// and at every line end. ICU does it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace podium {

// Used by one thread at a time.
class SentenceSplitter {
 public:
  SentenceSplitter();
  ~SentenceSplitter();

  // Calls `sink` with every sentence, without the white space at its ends; none is empty. `text` is UTF-8 of
  // at most 2 GiB.
  void split(std::string_view text, const std::function<void(std::string_view sentence)>& sink);

 private:
  class Breaks;
  std::unique_ptr<Breaks> breaks_;
};

}  // namespace podium
