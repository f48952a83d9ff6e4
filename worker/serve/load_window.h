// What a model's requests of the last seconds were: the numbers by which replicas are watched and scaled.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "worker/serve/batch_queue.h"

namespace podium {

// Of the nearest rank: the smallest value that so many of them do not exceed.
struct Percentiles {
  double p50 = 0, p90 = 0, p99 = 0;
};
Percentiles percentiles_of(std::vector<double> values);  // at least one

struct LoadFigures {
  std::uint64_t requests = 0;  // that have ended, whatever became of them
  std::uint64_t failed = 0;    // for want of room, time or a result
  double requests_per_second = 0;
  std::optional<Percentiles> queue_ms;    // of sequences, to their computation; nothing where there was none
  std::optional<Percentiles> latency_ms;  // of requests that were answered; nothing where there was none
};

class LoadWindow {
 public:
  using Length = std::chrono::nanoseconds;
  explicit LoadWindow(ServeTime begin, Length length = std::chrono::seconds(10))
      : begin_(begin), length_(length) {}

  // Times do not fall.
  void add_wait(ServeTime now, Length waited);
  enum class End { answered, failed, other };
  void add_request(ServeTime now, End end, Length whole);

  LoadFigures figures(ServeTime now);

 private:
  struct Wait {
    ServeTime at;
    double ms;
  };
  struct Request {
    ServeTime at;
    End end;
    double ms;
  };

  void forget_before(ServeTime time);

  ServeTime begin_;
  Length length_;
  std::deque<Wait> waits_;
  std::deque<Request> requests_;
};

}  // namespace podium
