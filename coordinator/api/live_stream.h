// The messages of the live stream: a bounded ring that every subscriber reads at its own pace by message id,
// so that a slow browser costs only its position. A subscriber whose next message has left the ring gets
// `reset`. On the loop's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "common/base/id.h"
#include "common/base/time.h"

namespace podium {

class LiveStream {
 public:
  using Pieces = std::function<boost::asio::awaitable<std::optional<std::string>>()>;

  struct Limits {
    std::size_t messages = 10'000;
    std::size_t bytes = std::size_t{4} << 20;
    std::chrono::milliseconds heartbeat{15'000};
    std::chrono::milliseconds linger{60'000};  // after the last subscriber left, for it to come back
  };

  // Ids ascend. They begin at `now` in milliseconds, above all ids of earlier processes, so that those are
  // known to be gone.
  LiveStream(boost::asio::any_io_executor executor, Time now, Limits limits);
  LiveStream(boost::asio::any_io_executor executor, Time now);

  // `job`: the job that the message is about, for subscribers of one job.
  void publish(std::string_view name, std::optional<JobId> job, const std::string& data);
  // An id for a reading that begins now: greater than all ids before it, smaller than all later ones. A
  // client that resumes after it misses nothing that the reading lacks.
  std::int64_t take_id() { return next_id_++; }
  // Call instead of publish() where there is no subscriber: clients that resume later must fetch everything
  // again.
  void skip();
  // Whether messages are worth making.
  bool watched() const;

  std::int64_t last_id() const { return next_id_ - 1; }
  // The id of the newest message or skip. Unlike last_id, readings do not change it.
  std::int64_t told_id() const { return told_id_; }

  // Pieces of text/event-stream after message `last_id` (default: from now on), for one job where given.
  // Where the process cannot continue from that id, the first piece is `reset`.
  Pieces subscribe(std::optional<std::int64_t> last_id, std::optional<JobId> job);

  void close();  // ends all subscriptions

 private:
  struct Message {
    std::int64_t id;
    std::optional<JobId> job;
    std::string text;  // as on the wire
  };
  struct Subscription;

  std::string pieces_after(Subscription& subscription) const;

  boost::asio::any_io_executor executor_;
  Limits limits_;
  std::deque<Message> ring_;  // by id
  std::size_t ring_bytes_ = 0;
  std::int64_t first_id_;  // from which the ring is whole
  std::int64_t next_id_;
  std::int64_t told_id_;
  std::set<boost::asio::steady_timer*> waiting_;  // subscribers with nothing to read; cancelled to wake them
  std::size_t subscribers_ = 0;
  std::chrono::steady_clock::time_point last_left_{};
  bool closed_ = false;
};

}  // namespace podium
