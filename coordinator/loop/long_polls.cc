#include "coordinator/loop/sync_holds.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace podium {

namespace asio = boost::asio;

bool SyncHolds::has_news(const NodeId& node, std::int64_t orders_seen) const {
  const Node* known = find_node(state_, node);
  return !known || known->version() != orders_seen;
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

void SyncHolds::check(const Events& events) {
  for (const Event& event : events) {
    if (const auto* adopted = std::get_if<NodeAdopted>(&event.body)) {
      check(adopted->node);
    } else if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
      check(created->allocation);
    } else if (const auto* stopping = std::get_if<AttemptStopping>(&event.body)) {
      const Job* job = find_job(state_, stopping->attempt.job);  // none: it has left every node
      if (job && job->attempt) check(job->attempt->allocation);
    }
  }
}

void SyncHolds::check(const Allocation& allocation) {
  const NodeId* last = nullptr;  // ranks count by node
  for (const Placement& place : allocation.ranks) {
    if (last && *last == place.node) continue;
    last = &place.node;
    check(place.node);
  }
}

void SyncHolds::check(const NodeId& node) {
  const auto hold = held_.find(node);
  if (hold != held_.end() && has_news(node, hold->second.orders_seen)) hold->second.timer->cancel();
}

void SyncHolds::release_all() {
  released_ = true;
  for (const auto& [node, hold] : held_) hold.timer->cancel();
}

}  // namespace podium
