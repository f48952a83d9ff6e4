// A second state that follows the loop's by the same events, for work that takes long and runs elsewhere: the
// loop's thread copies its state once, when this is first asked for, and from then on only hands events over.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "coordinator/core/events.h"

namespace podium {

class StateMirror {
 public:
  // The loop's own, which outlives this.
  explicit StateMirror(const ClusterState& state) : state_(state) {}

  // On the loop's thread, after every turn, with its events.
  void follow(const Events& events);

  // On the loop's thread. What it returns may be called on any thread, and gives the state as of now or
  // later.
  std::function<ClusterState()> reader();

 private:
  struct Copy {
    std::mutex applying;  // held while `state` is brought up to date and copied
    ClusterState state;
    std::mutex handing_over;
    Events pending;  // turns that `state` lacks; guarded by handing_over
  };

  const ClusterState& state_;
  std::shared_ptr<Copy> copy_;  // shared with readers at work; null until asked for
};

}  // namespace podium
