#include "coordinator/loop/state_mirror.h"

#include <utility>

namespace podium {
namespace {

// How many events of turns are kept without a reader. Beyond that, the next reader copies the state anew.
constexpr std::size_t kMostPending = 100'000;

}  // namespace

void StateMirror::follow(const Events& events) {
  if (!copy_) return;
  std::size_t pending = 0;
  {
    const std::lock_guard lock(copy_->handing_over);
    copy_->pending.insert(copy_->pending.end(), events.begin(), events.end());
    pending = copy_->pending.size();
  }
  if (pending > kMostPending) copy_.reset();
}

StateMirror::View StateMirror::view() {
  if (!copy_) {
    copy_ = std::make_shared<Copy>();
    copy_->state = state_;
  }
  return View(copy_);
}

void StateMirror::Copy::catch_up() {
  Events turns;
  {
    const std::lock_guard lock(handing_over);
    turns = std::exchange(pending, {});
  }
  apply_all(state, turns);
}

}  // namespace podium
