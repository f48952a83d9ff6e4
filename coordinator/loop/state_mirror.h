// A copy of the loop's state that follows it by the same events, for long work on other threads. The loop's
// thread copies its state once, at the first use, and from then on only hands over events.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "coordinator/core/events/events.h"

namespace podium {

class StateMirror {
  struct Copy;

 public:
  // Use it on any thread; one thread looks at a time.
  class View {
   public:
    explicit View(std::shared_ptr<Copy> copy) : copy_(std::move(copy)) {}

    // Calls `look(state)` with the state as of now or later.
    template <class Look>
    auto look(const Look& look) const {
      const std::lock_guard applying(copy_->applying);
      copy_->catch_up();
      return look(std::as_const(copy_->state));
    }

   private:
    std::shared_ptr<Copy> copy_;
  };

  // `state`: the loop's; must outlive the mirror.
  explicit StateMirror(const ClusterState& state) : state_(state) {}

  // Call on the loop's thread after every turn, with its events.
  void follow(const Events& events);

  View view();  // on the loop's thread

 private:
  struct Copy {
    void catch_up();  // `applying` is held

    std::mutex applying;  // held while `state` is brought up to date and looked at
    ClusterState state;
    std::mutex handing_over;
    Events pending;  // turns that `state` lacks; guarded by handing_over
  };

  const ClusterState& state_;
  std::shared_ptr<Copy> copy_;  // shared with views; null until asked for
};

}  // namespace podium
