// Notices that a process of the attempt has gone, for whatever reason. Each process keeps a connection to the
// rendezvous open; when it ends, the rendezvous tells all others. It serves communicators whose operations
// would otherwise wait for a lost process for ever. They must allow for processes that leave in order, which
// are reported as well.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "worker/comm/gloo_meeting.h"

namespace podium {

class PeerWatch {
 public:
  // `where` names this process's rank and the rendezvous, which already runs. A thread of this object calls
  // `gone` once, with the name of the process that has gone.
  PeerWatch(const GlooOptions& where, std::function<void(const std::string& who)> gone);
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch();

 private:
  void run();

  RendezvousClient presence_;  // open as long as this process lives
  std::atomic<bool> stopping_{false};
  RendezvousClient listener_;
  std::function<void(const std::string&)> gone_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
