// Signals as plain values: SIGTERM and SIGINT raise a flag from a thread of their own instead of interrupting
// anything.
#pragma once

#include <atomic>
#include <thread>

namespace podium {

// To be made before any other thread: it blocks the two signals for the whole process. Also ignores SIGPIPE
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
