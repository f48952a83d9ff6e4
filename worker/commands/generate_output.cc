#include "worker/commands/generate_output.h"

#include <utility>

namespace podium {

void OrderedTexts::add(std::size_t text, std::string_view piece) {
  if (text == turn_)
    print_(piece);
  else
    waiting_[text] += piece;
}

void OrderedTexts::end(std::size_t text) {
  ended_[text] = true;
  while (turn_ < ended_.size() && ended_[turn_])
    if (++turn_ < waiting_.size()) print_(std::exchange(waiting_[turn_], {}));
}

}  // namespace podium
