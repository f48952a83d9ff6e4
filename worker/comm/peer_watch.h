// Notices that a process of the attempt has gone, in whatever way: each keeps a connection to the rendezvous
// open, whose end the rendezvous tells to all others. For communicators whose operations would wait for the
// lost one without an end. That a process which left in order is told of as well is for them to allow for.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "worker/comm/gloo_meeting.h"

namespace podium {

class PeerWatch {
 public:
  // Of the process with the rank of `where`, whose rendezvous is there already. `gone` is called once, on a
  // thread of this object's, with who it is.
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
