// What `generate` prints: of several texts that come at the same time one after the other, in the order they
// were asked for, each as soon as the one before it has ended.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

class OrderedTexts {
 public:
  using Print = std::function<void(std::string_view)>;

  OrderedTexts(std::size_t texts, Print print)
      : waiting_(texts), ended_(texts, false), print_(std::move(print)) {}

  void add(std::size_t text, std::string_view piece);
  void end(std::size_t text);

 private:
  std::vector<std::string> waiting_;  // pieces of those whose turn has not come
  std::vector<bool> ended_;
  std::size_t turn_ = 0;
  Print print_;
};

}  // namespace podium
