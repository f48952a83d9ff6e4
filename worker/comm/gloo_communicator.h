// Gloo over TCP. All operations run one after another on one thread, in the order they were asked for, so
// that gradients can travel while the caller computes. Any failure there is a PeerLost, also for every later
// operation.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "worker/comm/communicator.h"
#include "worker/comm/rendezvous.h"

namespace gloo {
class Context;
}

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
};

class GlooCommunicator final : public Communicator {
 public:
  // Meets all ranks. Throws PeerLost naming the rank that did not come, AddressInUse, or SocketError where
  // rank 0 cannot listen at all. SIGPIPE must be ignored by the process.
  explicit GlooCommunicator(const GlooOptions& options);
  ~GlooCommunicator() override;

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  std::future<void> all_reduce(std::span<float> values) override;
  std::future<void> all_reduce(std::span<double> values) override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override;
  void barrier() override;

 private:
  using Task = std::packaged_task<void()>;

  void meet();
  void run();
  // `operation` gets a tag that no other operation has.
  std::future<void> enqueue(std::function<void(std::uint32_t tag)> operation);
  template <class T>
  std::future<void> sum(std::span<T> values);

  GlooOptions options_;
  std::unique_ptr<RendezvousServer> server_;  // rank 0 only
  std::shared_ptr<gloo::Context> context_;
  std::uint32_t next_tag_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // under mutex_
  bool stopping_ = false;   // under mutex_
  std::thread thread_;      // last: it uses all of the above
};

}  // namespace podium
