#include "worker/comm/gloo_communicator.h"

#include <gloo/common/error.h>
#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

#include <algorithm>

#include "common/base/check.h"
#include "worker/comm/gloo_collectives.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

constexpr std::uint8_t kMessageSlot = 0x20;  // beyond those Gloo's own collectives use

std::span<std::byte> bytes_of(TensorView values) {
  return {static_cast<std::byte*>(values.address), values.bytes()};
}

template <class Operation>
auto without_gloo_errors(Operation&& operation) {
  try {
    return operation();
  } catch (const gloo::Exception& error) {
    throw PeerLost(std::string("another rank is lost: ") + error.what());
  }
}

// A future whose wait is the operation's own: it needs no thread.
template <class Wait>
std::future<void> when_waited_for(Wait wait) {
  return std::async(std::launch::deferred, [wait = std::move(wait)]() mutable { without_gloo_errors(wait); });
}

}  // namespace

GlooCommunicator::GlooCommunicator(const GlooOptions& options)
    : GlooCommunicator(std::make_shared<GlooMeeting>(options), "world", options.rank, options.size) {}

GlooCommunicator::GlooCommunicator(std::shared_ptr<GlooMeeting> meeting, std::string name, int rank, int size)
    : meeting_(std::move(meeting)),
      name_(std::move(name)),
      rank_(rank),
      size_(size),
      context_(meeting_->connect(name_, rank, size)),
      sent_(static_cast<std::size_t>(size)),
      received_(static_cast<std::size_t>(size)),
      thread_([this] { run(); }) {}

GlooCommunicator::~GlooCommunicator() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GlooCommunicator::run() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

std::future<void> GlooCommunicator::enqueue(std::function<void(const GlooCall&)> operation) {
  Task task([this, operation = std::move(operation), tag = next_tag_++] {
    without_gloo_errors([&] { operation({context_, meeting_->poster(), tag, scratch_}); });
  });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  return done;
}

std::future<void> GlooCommunicator::reduce(std::span<std::byte> values, const ElementReduction& reduction) {
  return enqueue([values, reduction](const GlooCall& call) {
    if (!values.empty()) gloo_all_reduce(call, values, reduction);
  });
}

std::future<void> GlooCommunicator::all_reduce(TensorView values, Reduction reduction) {
  return reduce(bytes_of(values), reduction_of(values.dtype, reduction));
}

std::future<void> GlooCommunicator::all_reduce(std::span<double> values) {
  return reduce(std::as_writable_bytes(values), sum_of_doubles());
}

std::future<void> GlooCommunicator::reduce_scatter(TensorView values) {
  PODIUM_CHECK(values.size() % size_ == 0, "reduce_scatter: one equal part for every rank");
  return enqueue([values = bytes_of(values),
                  reduction = reduction_of(values.dtype, Reduction::sum)](const GlooCall& call) {
    if (!values.empty()) gloo_reduce_scatter(call, values, reduction);
  });
}

std::future<void> GlooCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  PODIUM_CHECK(all.size() == own.size() * static_cast<std::size_t>(size_),
               "all_gather: one part for every rank");
  return enqueue([own, all](const GlooCall& call) {
    if (!own.empty()) gloo_all_gather(call, own, all);
  });
}

void GlooCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  enqueue([bytes, root](const GlooCall& call) {
    if (!bytes.empty()) gloo_broadcast(call, bytes, root);
  }).get();
}

void GlooCommunicator::barrier() { enqueue(gloo_barrier).get(); }

std::future<void> GlooCommunicator::send(std::span<const std::byte> bytes, int peer) {
  PODIUM_CHECK(peer != rank_, "a rank does not send to itself");
  // Gloo only reads what it sends, but its signature is not const.
  std::shared_ptr buffer = context_->createUnboundBuffer(const_cast<std::byte*>(bytes.data()), bytes.size());
  const auto slot = gloo::Slot::build(kMessageSlot, sent_[static_cast<std::size_t>(peer)]++);
  meeting_->poster().post({{GlooMessage::Direction::send, buffer, peer, slot, 0, bytes.size()}});
  return when_waited_for([buffer, timeout = context_->getTimeout()] { wait_sent(*buffer, timeout); });
}

std::future<void> GlooCommunicator::receive(std::span<std::byte> bytes, int peer) {
  PODIUM_CHECK(peer != rank_, "a rank does not receive from itself");
  std::shared_ptr buffer = context_->createUnboundBuffer(bytes.data(), bytes.size());
  const auto slot = gloo::Slot::build(kMessageSlot, received_[static_cast<std::size_t>(peer)]++);
  meeting_->poster().post({{GlooMessage::Direction::receive, buffer, peer, slot, 0, bytes.size()}});
  return when_waited_for([buffer, timeout = context_->getTimeout()] { wait_received(*buffer, timeout); });
}

std::unique_ptr<Communicator> GlooCommunicator::split(const std::vector<std::vector<int>>& groups,
                                                      const std::string& name) {
  const std::string prefix = name_ + "/" + std::to_string(splits_++) + "." + name + "/";
  std::unique_ptr<Communicator> own;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto found = std::ranges::find(groups[i], rank_);
    if (found == groups[i].end()) continue;
    PODIUM_CHECK(own == nullptr, "split: a rank is in one group only");
    const int rank = static_cast<int>(found - groups[i].begin());
    const int size = static_cast<int>(groups[i].size());
    if (size == 1)
      own = std::make_unique<SingleCommunicator>();
    else
      own.reset(new GlooCommunicator(meeting_, prefix + std::to_string(i), rank, size));
  }
  PODIUM_CHECK(own != nullptr, "split: every rank is in a group");
  barrier();  // rank 0's rendezvous must outlive everybody's use of it
  return own;
}

}  // namespace podium
