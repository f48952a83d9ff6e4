// When each notice of one webhook is sent. Notices of one subject go one after the other, in their order;
// those of different subjects go beside each other. A notice that failed waits twice as long each time, and
// the whole webhook pauses likewise, with one attempt at a time, until one succeeds: a receiver that is down
// is not stormed. A notice that a receiver refuses again and again pauses nothing but its subject. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/net/retry.h"

namespace podium {

inline constexpr RetryPolicy kDeliveryRetry{std::chrono::seconds(1), std::chrono::minutes(5)};
inline constexpr Duration kGiveUpAfter = std::chrono::hours(24);

enum class DeliveryFailure {
  down,    // the receiver takes nothing now
  refused  // it answers, and does not take this notice
};

class DeliveryQueue {
 public:
  // Ids ascend. `expires`: from when on it is given up.
  void add(std::int64_t id, const std::string& subject, Time expires);
  // The store has those before `first` no longer. One that is being sent stays until it has been.
  void drop_before(std::int64_t first);

  // What is to be sent now, if anything; sent() or failed() follows.
  std::optional<std::int64_t> next(Time now);
  void sent(std::int64_t id);
  void failed(std::int64_t id, DeliveryFailure failure, Time now, double jitter);
  void vanished(std::int64_t id);  // it could not be sent: the store has it no longer

  // What has failed need not wait any longer: the receiver is well again, as someone has found.
  void retry();

  // Takes out those that are given up, but for what is being sent.
  std::vector<std::int64_t> expire(Time now);

  // When next() or expire() has something without a call of the others; none: never.
  std::optional<Time> wake_at() const;

  std::size_t size() const { return items_.size(); }
  int failures() const { return failures_; }  // in a row, of any notices

 private:
  struct Subject {
    std::deque<std::int64_t> ids;
    int failures = 0;  // of the first
    Time due{};
    bool sending = false;  // the first
    int round = 0;         // in which that began
  };
  struct Item {
    Time expires;
    std::map<std::string, Subject>::iterator subject;
  };
  using Items = std::map<std::int64_t, Item>;
  using Subjects = std::map<std::string, Subject>;

  bool is_sending(const Items::const_iterator& item) const;
  void place(Subjects::iterator subject);
  void displace(Subjects::iterator subject);
  void remove(Items::iterator item);
  Subjects::iterator end_sending(std::int64_t id);

  Items items_;
  Subjects subjects_;
  // Subjects of which nothing is being sent, under their first notice.
  std::set<std::int64_t> fresh_;                   // that has not failed
  std::set<std::pair<Time, std::int64_t>> later_;  // that has; by the time of the next attempt
  std::size_t sending_ = 0;
  int failures_ = 0;
  int round_ = 0;  // the pauses so far: attempts beside each other that fail together are one failure
  Time paused_until_{};
};

}  // namespace podium
