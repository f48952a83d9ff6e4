// The bytes of generated tokens as text on its way to a reader: whole characters alone, and nothing that may
// turn out to belong to a stop string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podium {

class TextStream {
 public:
  // The stop strings are not empty.
  explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What can be told now. The text ends where the first stop string to be complete begins (of those that are
  // complete together, where the longest does), and nothing may be added behind it. Bytes that are no UTF-8
  // become U+FFFD.
  std::string add(std::string_view bytes);
  // What is left where no stop string came; a character that is cut short becomes U+FFFD.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  bool take(std::string_view character);
  std::string release();

  std::vector<std::string> stops_;
  std::string bytes_;  // of a character that is not complete
  std::string held_;   // complete characters, not yet told
  bool stopped_ = false;
};

}  // namespace podium
