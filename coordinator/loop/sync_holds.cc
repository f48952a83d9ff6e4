#include "coordinator/loop/sync_holds.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace podium {

namespace asio = boost::asio;

bool SyncHolds::has_news(const NodeId& node, std::int64_t orders_seen) const {
  const Node* known = find_node(state_, node);
  return !known || known->orders_version != orders_seen;
}

asio::awaitable<void> SyncHolds::wait(NodeId node, std::int64_t orders_seen) {
  if (const auto older = held_.find(node); older != held_.end()) {
    older->second.timer->cancel();
    held_.erase(older);
  }
  if (released_ || has_news(node, orders_seen)) co_return;
  asio::steady_timer timer(executor_, longest_);
  held_[node] = {orders_seen, &timer};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (const auto mine = held_.find(node); mine != held_.end() && mine->second.timer == &timer)
    held_.erase(mine);
}

void SyncHolds::check() {
  for (const auto& [node, hold] : held_)
    if (has_news(node, hold.orders_seen)) hold.timer->cancel();
}

void SyncHolds::release_all() {
  released_ = true;
  for (const auto& [node, hold] : held_) hold.timer->cancel();
}

}  // namespace podium
