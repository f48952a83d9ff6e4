// The syncs of agents are long polls: the coordinator answers one when the node's orders differ from those
// that its agent has seen, when a newer sync of the node arrives, or after the longest wait. At most one sync
// of each node waits. On the loop's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>

#include "coordinator/core/events/events.h"

namespace podium {

class LongPolls {
 public:
  LongPolls(boost::asio::any_io_executor executor, const ClusterState& state,
            std::chrono::milliseconds longest)
      : executor_(std::move(executor)), state_(state), longest_(longest) {}

  boost::asio::awaitable<void> wait(NodeId node, std::int64_t orders_seen);
  // Call after each turn with its events: answers the nodes whose orders they change. A node that reported an
  // exit or fell silent is skipped, because none of its syncs waits.
  void check(const Events& events);
  void answer_all();  // for good: later waits return at once

 private:
  struct Poll {
    std::int64_t orders_seen = 0;
    boost::asio::steady_timer* timer = nullptr;  // in the waiting coroutine; cancelled to wake it
  };

  void check(const Allocation& allocation);
  void check(const NodeId& node);
  bool has_news(const NodeId& node, std::int64_t orders_seen) const;

  boost::asio::any_io_executor executor_;
  const ClusterState& state_;
  std::chrono::milliseconds longest_;
  std::map<NodeId, Poll> waiting_;
  bool closed_ = false;
};

}  // namespace podium
