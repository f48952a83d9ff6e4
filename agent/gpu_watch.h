// Examines the node's GPUs every 10 s, after an XID error, and on request. Runs on a thread of its own,
// because the driver of a broken GPU may answer late or never; results go to the agent's executor.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "agent/device/gpu_monitor.h"

namespace podium {

struct GpuLook {
  std::uint64_t request = 0;  // the newest that was made before this look began
  std::vector<GpuState> gpus;
};

class GpuWatch {
 public:
  // `seen` is called on the executor, never after this object is destroyed. After `silence` without a
  // finished look it is called with all GPUs unreachable.
  GpuWatch(boost::asio::any_io_executor executor, std::unique_ptr<GpuMonitor> monitor,
           std::function<void(GpuLook)> seen, std::chrono::milliseconds silence = std::chrono::minutes(1));
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  ~GpuWatch();  // waits for a look that is under way

  // Requests a look soon. Looks that begin after this call carry the returned number or a larger one.
  std::uint64_t request_look() { return ++requested_; }

 private:
  struct Audience;

  void run();

  boost::asio::any_io_executor executor_;
  std::unique_ptr<GpuMonitor> monitor_;
  std::shared_ptr<Audience> audience_;  // shared with what is on the executor, which may outlive this
  std::atomic<std::uint64_t> requested_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace podium
