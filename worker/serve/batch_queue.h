// Which of the sequences that wait are computed next, and when. Pure: time is an argument.
//
// A batch starts once it is full, or as many sequences wait as the batch before had (clients that were
// answered together come back together); else when its oldest has waited for max_wait or for half of its
// time, or when nothing has been computed for max_wait, so that an idle model starts at once. The most urgent
// sequence is its first; others of the same pass join by urgency, as far as max_tokens and max_sequences let
// them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace podium {

using ServeTime = std::chrono::steady_clock::time_point;

struct BatchRules {
  int max_tokens = 4096;  // of a batch; a sequence that alone has more is a batch of its own
  int max_sequences = 64;
  std::chrono::nanoseconds max_wait = std::chrono::milliseconds(2);
  std::size_t max_waiting = 512;  // sequences
};

struct WaitingSequence {
  std::uint64_t number = 0;  // as the caller counts
  int pass = 0;              // sequences of one pass can be computed together
  int tokens = 0;
  ServeTime arrived;
  ServeTime deadline;
};

class BatchQueue {
 public:
  explicit BatchQueue(const BatchRules& rules) : rules_(rules) {}

  std::size_t size() const { return waiting_.size(); }
  std::int64_t tokens() const { return tokens_; }  // of all that wait
  bool has_room(std::size_t sequences) const { return waiting_.size() + sequences <= rules_.max_waiting; }
  void add(const WaitingSequence& sequence);

  // The numbers of those whose deadline is over; they wait no longer.
  std::vector<std::uint64_t> take_expired(ServeTime now);
  // They wait no longer; `numbers` ascend.
  void drop(const std::vector<std::uint64_t>& numbers);
  // When the next batch starts, unless more come; nothing where none waits.
  std::optional<ServeTime> next_start() const;
  // The next batch, whose sequences wait no longer. At least one waits.
  std::vector<std::uint64_t> take_batch();
  // The batch that was taken is computed.
  void batch_ended(ServeTime now) { last_end_ = now; }

 private:
  std::vector<std::size_t> next_batch() const;  // places in waiting_
  bool is_full(const std::vector<std::size_t>& batch) const;
  std::vector<std::uint64_t> remove(const std::vector<bool>& goes);

  BatchRules rules_;
  std::vector<WaitingSequence> waiting_;  // the most urgent first, of equally urgent ones the oldest
  std::int64_t tokens_ = 0;
  std::size_t last_size_ = 1;  // of the batch before
  ServeTime last_end_ = ServeTime::min();
};

}  // namespace podium
