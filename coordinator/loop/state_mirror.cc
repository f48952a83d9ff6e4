#include "coordinator/loop/state_mirror.h"

#include <utility>

namespace podium {
namespace {

// Of turns that nobody wanted to know of. More are not kept: the next who asks has the state copied anew.
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

std::function<ClusterState()> StateMirror::reader() {
  if (!copy_) {
    copy_ = std::make_shared<Copy>();
    copy_->state = state_;
  }
  return [copy = copy_] {
    const std::lock_guard applying(copy->applying);
    Events pending;
    {
      const std::lock_guard lock(copy->handing_over);
      pending = std::exchange(copy->pending, {});
    }
    apply_all(copy->state, pending);
    return copy->state;
  };
}

}  // namespace podium
