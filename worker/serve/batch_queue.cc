#include "worker/serve/batch_queue.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {

void BatchQueue::add(const WaitingSequence& sequence) {
  const auto place = std::ranges::upper_bound(waiting_, sequence.deadline, {}, &WaitingSequence::deadline);
  waiting_.insert(place, sequence);
  tokens_ += sequence.tokens;
}

std::vector<std::uint64_t> BatchQueue::take_expired(ServeTime now) {
  std::vector<bool> goes(waiting_.size());
  for (std::size_t i = 0; i < waiting_.size(); ++i) goes[i] = waiting_[i].deadline <= now;
  return remove(goes);
}

void BatchQueue::drop(const std::vector<std::uint64_t>& numbers) {
  std::vector<bool> goes(waiting_.size());
  for (std::size_t i = 0; i < waiting_.size(); ++i)
    goes[i] = std::ranges::binary_search(numbers, waiting_[i].number);
  remove(goes);
}

std::optional<ServeTime> BatchQueue::next_start() const {
  if (waiting_.empty()) return std::nullopt;
  const std::vector<std::size_t> batch = next_batch();
  if (is_full(batch) || batch.size() >= last_size_) return ServeTime::min();
  ServeTime start = last_end_ + rules_.max_wait;
  for (const WaitingSequence& sequence : waiting_) {
    const std::chrono::nanoseconds half = (sequence.deadline - sequence.arrived) / 2;
    start = std::min(start, sequence.arrived + std::min(rules_.max_wait, half));
  }
  return start;
}

std::vector<std::uint64_t> BatchQueue::take_batch() {
  PODIUM_CHECK(!waiting_.empty(), "a batch is taken of sequences that wait");
  std::vector<bool> goes(waiting_.size());
  for (const std::size_t place : next_batch()) goes[place] = true;
  std::vector<std::uint64_t> batch = remove(goes);
  last_size_ = batch.size();
  return batch;
}

std::vector<std::size_t> BatchQueue::next_batch() const {
  std::vector<std::size_t> batch;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < waiting_.size() && std::ssize(batch) < rules_.max_sequences; ++i) {
    const WaitingSequence& sequence = waiting_[i];
    const bool fits = batch.empty() || (sequence.pass == waiting_.front().pass &&
                                        tokens + sequence.tokens <= rules_.max_tokens);
    if (!fits) continue;
    batch.push_back(i);
    tokens += sequence.tokens;
  }
  return batch;
}

// Nothing more would join it, or what waits has no room in it.
bool BatchQueue::is_full(const std::vector<std::size_t>& batch) const {
  const int pass = waiting_.front().pass;
  const auto same = std::ranges::count(waiting_, pass, &WaitingSequence::pass);
  return std::ssize(batch) == rules_.max_sequences || std::ssize(batch) < same;
}

std::vector<std::uint64_t> BatchQueue::remove(const std::vector<bool>& goes) {
  std::vector<std::uint64_t> numbers;
  std::vector<WaitingSequence> stay;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (!goes[i]) {
      stay.push_back(waiting_[i]);
      continue;
    }
    numbers.push_back(waiting_[i].number);
    tokens_ -= waiting_[i].tokens;
  }
  waiting_ = std::move(stay);
  return numbers;
}

}  // namespace podium
