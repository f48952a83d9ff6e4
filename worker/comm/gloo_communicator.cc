#include "worker/comm/gloo_communicator.h"

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

#include <algorithm>
#include <numeric>

#include "common/base/check.h"
#include "worker/comm/gloo_collectives.h"
#include "worker/comm/group.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

constexpr std::uint8_t kMessageSlot = 0x20;  // beyond those Gloo's own collectives use

std::span<std::byte> bytes_of(TensorView values) {
  return {static_cast<std::byte*>(values.address), values.bytes()};
}

std::vector<int> first_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

GlooCommunicator::GlooCommunicator(const GlooOptions& options)
    : GlooCommunicator(std::make_shared<GlooMeeting>(options), "world", options.rank,
                       first_ranks(options.size)) {}

GlooCommunicator::GlooCommunicator(std::shared_ptr<GlooMeeting> meeting, std::string name, int rank,
                                   std::vector<int> members)
    : meeting_(std::move(meeting)),
      name_(std::move(name)),
      rank_(rank),
      size_(static_cast<int>(members.size())),
      members_(std::move(members)),
      context_(meeting_->connect(name_, rank_, size_)),
      collectives_wait_(meeting_->waits(), members_, "collective of " + name_),
      messages_wait_(meeting_->waits(), members_, "message within " + name_),
      sent_(members_.size()),
      received_(members_.size()),
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
    operation({context_, meeting_->poster(), collectives_wait_, tag, scratch_});
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
  return std::async(std::launch::deferred,
                    [=, this] { messages_wait_.sent(*buffer, peer, context_->getTimeout()); });
}

std::future<void> GlooCommunicator::receive(std::span<std::byte> bytes, int peer) {
  PODIUM_CHECK(peer != rank_, "a rank does not receive from itself");
  std::shared_ptr buffer = context_->createUnboundBuffer(bytes.data(), bytes.size());
  const auto slot = gloo::Slot::build(kMessageSlot, received_[static_cast<std::size_t>(peer)]++);
  meeting_->poster().post({{GlooMessage::Direction::receive, buffer, peer, slot, 0, bytes.size()}});
  return std::async(std::launch::deferred,
                    [=, this] { messages_wait_.received(*buffer, peer, context_->getTimeout()); });
}

std::unique_ptr<Communicator> GlooCommunicator::split(const std::vector<std::vector<int>>& groups,
                                                      const std::string& name) {
  OwnGroup group = own_group(groups, rank_, name_, splits_++, name);
  for (int& member : group.members) member = members_[static_cast<std::size_t>(member)];
  std::unique_ptr<Communicator> own;
  if (group.members.size() == 1)
    own = std::make_unique<SingleCommunicator>();
  else
    own.reset(new GlooCommunicator(meeting_, std::move(group.name), group.rank, std::move(group.members)));
  barrier();  // rank 0's rendezvous must outlive everybody's use of it
  return own;
}

}  // namespace podium
