#include "coordinator/loop/long_polls.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace podium {

namespace asio = boost::asio;

bool LongPolls::has_news(const NodeId& node, std::int64_t orders_seen) const {
  const Node* known = find_node(state_, node);
  return !known || known->version() != orders_seen;
}

asio::awaitable<void> LongPolls::wait(NodeId node, std::int64_t orders_seen) {
  if (const auto older = waiting_.find(node); older != waiting_.end()) {
    older->second.timer->cancel();
    waiting_.erase(older);
  }
  if (closed_ || has_news(node, orders_seen)) co_return;
  asio::steady_timer timer(executor_, longest_);
  waiting_[node] = {orders_seen, &timer};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (const auto mine = waiting_.find(node); mine != waiting_.end() && mine->second.timer == &timer)
    waiting_.erase(mine);
}

void LongPolls::check(const Events& events) {
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

void LongPolls::check(const Allocation& allocation) {
  const NodeId* last = nullptr;  // ranks count by node
  for (const Placement& place : allocation.ranks) {
    if (last && *last == place.node) continue;
    last = &place.node;
    check(place.node);
  }
}

void LongPolls::check(const NodeId& node) {
  const auto poll = waiting_.find(node);
  if (poll != waiting_.end() && has_news(node, poll->second.orders_seen)) poll->second.timer->cancel();
}

void LongPolls::answer_all() {
  closed_ = true;
  for (const auto& [node, poll] : waiting_) poll.timer->cancel();
}

}  // namespace podium
