// An NCCL communicator with a stream of its own, on which its operations run one after another. NCCL's
// communicators never block (blocking = 0): a waiting thread checks meanwhile whether everything is lost. One
// thread calls; the watchdog checks and aborts from its own thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "worker/comm/nccl_library.h"
#include "worker/comm/nccl_watchdog.h"
#include "worker/tensor/device.h"

namespace podium {

// The connections of a process share this.
struct NcclSetting {
  nccl::Library library;
  Device& device;
  NcclWatchdog& watchdog;
  std::chrono::milliseconds meeting_timeout;
};

class NcclConnection {
 public:
  // Collective. Returns when all `size` ranks have called this with the same id. Throws PeerLost. The calling
  // thread must use the device.
  NcclConnection(const NcclSetting& setting, const nccl::UniqueId& id, int rank, int size, std::string name);
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;
  ~NcclConnection();

  // Calls NCCL to put an operation on the stream, where it begins after `ready` is reached. Returns an event
  // that is reached when the operation is done. Throws PeerLost.
  using Call = std::function<nccl::Result(nccl::Comm, nccl::Stream)>;
  std::shared_ptr<DeviceEvent> put(const DeviceEvent& ready, const Call& call);

  const std::string& name() const { return name_; }
  // For the watchdog.
  std::optional<std::string> find_error();
  std::chrono::milliseconds longest_wait();  // how long the oldest operation under way has been the oldest
  void abort();

 private:
  using Clock = std::chrono::steady_clock;
  struct UnderWay {
    std::shared_ptr<DeviceEvent> done;
    Clock::time_point since;
  };

  void settle(nccl::Result result, Clock::time_point deadline);
  [[noreturn]] void fail(nccl::Result result);
  void close();

  const NcclSetting setting_;
  const std::string name_;
  const std::unique_ptr<DeviceStream> stream_;
  std::mutex mutex_;           // of all that follows
  nccl::Comm comm_ = nullptr;  // null: aborted, or not yet made
  std::deque<UnderWay> under_way_;
};

}  // namespace podium
