#include "coordinator/webhooks/delivery_queue.h"

#include <algorithm>

namespace podium {

void DeliveryQueue::add(std::int64_t id, const std::string& subject, Time expires) {
  const auto of = subjects_.try_emplace(subject).first;
  of->second.ids.push_back(id);
  items_.emplace(id, Item{expires, of});
  if (of->second.ids.size() == 1) place(of);
}

bool DeliveryQueue::is_sending(const Items::const_iterator& item) const {
  const Subject& subject = item->second.subject->second;
  return subject.sending && subject.ids.front() == item->first;
}

void DeliveryQueue::place(Subjects::iterator subject) {
  const Subject& of = subject->second;
  if (of.ids.empty())
    subjects_.erase(subject);
  else if (of.failures == 0)
    fresh_.insert(of.ids.front());
  else
    later_.emplace(of.due, of.ids.front());
}

void DeliveryQueue::displace(Subjects::iterator subject) {
  fresh_.erase(subject->second.ids.front());
  later_.erase({subject->second.due, subject->second.ids.front()});
}

// Of an item that is not being sent.
void DeliveryQueue::remove(Items::iterator item) {
  const auto subject = item->second.subject;
  Subject& of = subject->second;
  const bool is_first = of.ids.front() == item->first;
  if (is_first) {
    displace(subject);
    of.failures = 0;
  }
  std::erase(of.ids, item->first);
  items_.erase(item);
  if (is_first) place(subject);
}

void DeliveryQueue::drop_before(std::int64_t first) {
  for (auto item = items_.begin(); item != items_.end() && item->first < first;)
    if (const auto each = item++; !is_sending(each)) remove(each);
}

std::optional<std::int64_t> DeliveryQueue::next(Time now) {
  if (paused_until_ > now || (failures_ > 0 && sending_ > 0)) return std::nullopt;
  const bool retries = !later_.empty() && later_.begin()->first <= now;
  if (!retries && fresh_.empty()) return std::nullopt;
  // While nothing succeeds, what has not failed yet is likelier to.
  const bool retry = retries && (failures_ == 0 || fresh_.empty());
  const std::int64_t id = retry ? later_.begin()->second : *fresh_.begin();
  const auto subject = items_.at(id).subject;
  displace(subject);
  subject->second.sending = true;
  subject->second.round = round_;
  ++sending_;
  return id;
}

DeliveryQueue::Subjects::iterator DeliveryQueue::end_sending(std::int64_t id) {
  --sending_;
  const auto subject = items_.at(id).subject;
  subject->second.sending = false;
  return subject;
}

void DeliveryQueue::vanished(std::int64_t id) {
  const auto subject = end_sending(id);
  subject->second.failures = 0;
  subject->second.ids.pop_front();
  items_.erase(id);
  place(subject);
}

void DeliveryQueue::sent(std::int64_t id) {
  failures_ = 0;
  paused_until_ = {};
  vanished(id);
}

void DeliveryQueue::failed(std::int64_t id, DeliveryFailure failure, Time now, double jitter) {
  const auto subject = end_sending(id);
  // A receiver that refuses one notice after another, as with a wrong secret, takes nothing either.
  const bool pauses = failure == DeliveryFailure::down || subject->second.failures == 0;
  if (pauses && subject->second.round == round_) {
    ++round_;
    paused_until_ = now + retry_delay(kDeliveryRetry, ++failures_, jitter);
  }
  subject->second.due = now + retry_delay(kDeliveryRetry, ++subject->second.failures, jitter);
  place(subject);
}

void DeliveryQueue::retry() {
  paused_until_ = {};
  std::set<std::pair<Time, std::int64_t>> due;
  for (const auto& [at, id] : later_) {
    items_.at(id).subject->second.due = {};
    due.emplace(Time{}, id);
  }
  later_ = std::move(due);
}

std::vector<std::int64_t> DeliveryQueue::expire(Time now) {
  std::vector<std::int64_t> expired;
  for (auto item = items_.begin(); item != items_.end() && item->second.expires <= now;) {
    const auto each = item++;
    if (is_sending(each)) continue;
    expired.push_back(each->first);
    remove(each);
  }
  return expired;
}

std::optional<Time> DeliveryQueue::wake_at() const {
  std::optional<Time> at;
  if (!fresh_.empty()) at = paused_until_;
  if (!later_.empty())
    at = std::min(at.value_or(Time::max()), std::max(later_.begin()->first, paused_until_));
  if (failures_ > 0 && sending_ > 0) at.reset();  // the end of that attempt decides
  for (auto item = items_.begin(); item != items_.end(); ++item) {
    if (is_sending(item)) continue;
    return std::min(at.value_or(Time::max()), item->second.expires);
  }
  return at;
}

}  // namespace podium
