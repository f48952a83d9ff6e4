// Syncs that wait for something to say: at most one a node, answered as soon as the node's orders are no
// longer those its agent has seen, a newer sync of the node arrives, or the longest wait is over. On the
// loop's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>

#include "coordinator/core/events/events.h"

namespace podium {

class SyncHolds {
 public:
  SyncHolds(boost::asio::any_io_executor executor, const ClusterState& state,
            std::chrono::milliseconds longest)
      : executor_(std::move(executor)), state_(state), longest_(longest) {}

  boost::asio::awaitable<void> wait(NodeId node, std::int64_t orders_seen);
  // After each turn, with its events: looks at the nodes that have new orders by them. Not at one that told
  // of an exit or fell silent: no sync of it is held.
  void check(const Events& events);
  void release_all();  // for good: later waits return at once

 private:
  struct Hold {
    std::int64_t orders_seen = 0;
    boost::asio::steady_timer* timer = nullptr;  // in the waiting coroutine; cancelled to wake it
  };

  void check(const Allocation& allocation);
  void check(const NodeId& node);
  bool has_news(const NodeId& node, std::int64_t orders_seen) const;

  boost::asio::any_io_executor executor_;
  const ClusterState& state_;
  std::chrono::milliseconds longest_;
  std::map<NodeId, Hold> held_;
  bool released_ = false;
};

}  // namespace podium
