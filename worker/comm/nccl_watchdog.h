// Keeps a gang from hanging in NCCL, whose operations wait on the device for peers that may be gone. Looks at
// every connection's operations: where one fails, takes too long, or does not end after a peer has gone, all
// connections of this process are aborted, their operations end (with wrong results), and every later use of
// one is PeerLost.
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
  // `longest`: that an operation may take. After a peer has gone it is kAfterGone at most, for peers also
  // leave in order, ahead of others that still finish what they share with one another.
  explicit NcclWatchdog(std::chrono::milliseconds longest, std::chrono::milliseconds after_gone = kAfterGone);
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;
  ~NcclWatchdog();

  static constexpr std::chrono::seconds kAfterGone{10};

  void add(NcclConnection& connection);
  void remove(NcclConnection& connection);
  void peer_gone(const std::string& who);  // from any thread
  void lose(const std::string& reason);    // likewise: aborts everything; the first reason stays

  void check() const;  // throws PeerLost where all is lost

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
