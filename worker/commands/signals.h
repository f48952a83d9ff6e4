// Turns signals into a value: for SIGTERM and SIGINT a thread raises a flag, and nothing is interrupted.
#pragma once

#include <atomic>
#include <thread>

namespace podium {

// Make this before any other thread: it blocks the two signals for the whole process. It also ignores SIGPIPE
// (a lost peer) and SIGXFSZ (a full quota), so that the failed write is reported instead.
class StopSignals {
 public:
  StopSignals();
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  std::atomic<bool> stop_{false};
  std::jthread thread_;
};

}  // namespace podium
