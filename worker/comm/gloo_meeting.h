// The ranks of an attempt meet here, and from here Gloo connects all of them or a group. Rank 0 hosts the
// rendezvous as long as its GlooMeeting lives; nobody may connect after that.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "worker/comm/gloo_poster.h"
#include "worker/comm/peer_wait.h"
#include "worker/comm/rendezvous.h"

namespace gloo {
class Context;
}  // namespace gloo

namespace podium {

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::string master_address;  // rank 0 hosts the rendezvous here
  int master_port = 0;
  std::string secret;
  std::chrono::milliseconds meeting_timeout = std::chrono::minutes(5);    // for all ranks to arrive
  std::chrono::milliseconds operation_timeout = std::chrono::minutes(5);  // of one collective
  const std::atomic<bool>* stop = nullptr;  // ends the wait for the others with StopRequested
  std::chrono::milliseconds long_wait = std::chrono::seconds(30);  // for one rank, before it is reported
  PeerWaits::Tell on_long_wait;                                    // called on another thread; may be empty
};

class GlooMeeting {
 public:
  // Waits for all ranks. Throws what GlooCommunicator throws.
  explicit GlooMeeting(const GlooOptions& options);
  ~GlooMeeting();

  // Connects `size` ranks with one another. Each of them calls this with the same `name`, which no other
  // group has, and with its number among them. Throws PeerLost.
  std::shared_ptr<gloo::Context> connect(const std::string& name, int rank, int size);

  GlooPoster& poster() { return *poster_; }  // of all connections
  PeerWaits& waits() { return waits_; }      // likewise

 private:
  void await_all_ranks();

  GlooOptions options_;
  PeerWaits waits_;
  std::unique_ptr<RendezvousServer> server_;  // rank 0 only
  std::unique_ptr<RendezvousClient> client_;
  std::shared_ptr<gloo::transport::Device> device_;  // Gloo's type; all contexts share its thread
  std::unique_ptr<GlooPoster> poster_;
};

}  // namespace podium
