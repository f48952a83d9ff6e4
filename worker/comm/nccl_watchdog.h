// Keeps a gang from hanging in NCCL, whose operations wait on the device for peers that may be gone. The
// watchdog checks the operations of every connection. If one fails, takes too long, or does not end after a
// peer has gone, it aborts all connections of this process: their operations end with wrong results, and
// every later use throws PeerLost.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace podium {

class NcclConnection;

class NcclWatchdog {
 public:
  // An operation may take `longest`, and at most kAfterGone after a peer has gone: a peer may also leave in
  // order while others finish what they share with one another.
  explicit NcclWatchdog(std::chrono::milliseconds longest, std::chrono::milliseconds after_gone = kAfterGone);
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;
  ~NcclWatchdog();

  static constexpr std::chrono::seconds kAfterGone{10};

  void add(NcclConnection& connection);
  void remove(NcclConnection& connection);
  void peer_gone(const std::string& who);  // from any thread
  void lose(const std::string& reason);    // likewise: aborts everything; the first reason stays

  void check() const;  // throws PeerLost if everything is lost

 private:
  void run();
  std::optional<std::string> look();

  const std::chrono::milliseconds longest_;
  const std::chrono::milliseconds after_gone_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;                  // under mutex_
  std::string gone_;                       // likewise: the first peer that went
  std::set<NcclConnection*> connections_;  // likewise
  std::string reason_;                     // written once, before lost_ is set
  std::atomic<bool> lost_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
