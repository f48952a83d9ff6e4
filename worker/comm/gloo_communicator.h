// Gloo over TCP. Collectives run one after another on one thread, in the order of the calls, so gradients can
// travel while the caller computes. Any failure there is a PeerLost, and every later operation throws it,
// too.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_meeting.h"

namespace podium {

struct ElementReduction;
struct GlooCall;

class GlooCommunicator final : public Communicator {
 public:
  // Meets all ranks. Throws PeerLost, which names a rank that did not come, AddressInUse, or SocketError if
  // rank 0 cannot listen at all. The process must ignore SIGPIPE.
  explicit GlooCommunicator(const GlooOptions& options);
  ~GlooCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  using Communicator::all_reduce;
  std::future<void> all_reduce(TensorView values, Reduction reduction) override;
  std::future<void> all_reduce(std::span<double> values) override;
  std::future<void> reduce_scatter(TensorView values) override;
  std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void barrier() override;
  std::future<void> send(std::span<const std::byte> bytes, int peer) override;
  std::future<void> receive(std::span<std::byte> bytes, int peer) override;
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                      const std::string& name) override;

 private:
  using Task = std::packaged_task<void()>;

  // Makes the group `name` of ranks that have met. `members` are their numbers in the world; this rank has
  // the number `rank` among them.
  GlooCommunicator(std::shared_ptr<GlooMeeting> meeting, std::string name, int rank,
                   std::vector<int> members);

  void run();
  std::future<void> enqueue(std::function<void(const GlooCall&)> operation);
  std::future<void> reduce(std::span<std::byte> values, const ElementReduction& reduction);

  std::shared_ptr<GlooMeeting> meeting_;  // shared with all groups split from the world: any may split again
  std::string name_;
  int rank_;
  int size_;
  std::vector<int> members_;
  std::shared_ptr<gloo::Context> context_;  // as Gloo wants it
  PeerWait collectives_wait_;               // of the thread
  PeerWait messages_wait_;                  // of whoever waits for a message
  std::uint32_t next_tag_ = 0;              // of collectives
  int splits_ = 0;
  std::vector<std::uint32_t> sent_;      // messages to each peer
  std::vector<std::uint32_t> received_;  // and from each
  std::vector<std::byte> scratch_;       // of the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // under mutex_
  bool stopping_ = false;   // under mutex_
  std::thread thread_;      // last: it uses all of the above
};

}  // namespace podium
