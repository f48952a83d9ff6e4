#include "worker/comm/gloo_communicator.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include "common/base/check.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

// Gloo's view of the rendezvous.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  GlooStore(RendezvousClient& client, milliseconds timeout) : client_(client), timeout_(timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    client_.set("gloo/" + key, {data.data(), data.size()});
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = client_.get("gloo/" + key, timeout_);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    for (const std::string& key : keys) client_.get("gloo/" + key, timeout);
  }

 private:
  RendezvousClient& client_;
  milliseconds timeout_;
};

// Waits for every rank by name, so that the error can say who is missing.
void await_all_ranks(RendezvousClient& client, const GlooOptions& options) {
  client.set("rank/" + std::to_string(options.rank), "");
  const auto deadline = std::chrono::steady_clock::now() + options.meeting_timeout;
  for (int rank = 0; rank < options.size; ++rank) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      client.get("rank/" + std::to_string(rank), std::max(left, milliseconds(1)));
    } catch (const SocketError& error) {
      throw PeerLost("rank " + std::to_string(rank) + " of " + std::to_string(options.size) +
                     " did not come to the rendezvous at " + options.master_address + ":" +
                     std::to_string(options.master_port) + ": " + error.what());
    }
  }
}

}  // namespace

GlooCommunicator::GlooCommunicator(const GlooOptions& options) : options_(options) {
  // A few connections more than ranks: a stranger's must not keep a rank out.
  if (options.rank == 0)
    server_ = std::make_unique<RendezvousServer>(options.master_address, options.master_port, options.secret,
                                                 options.size + 64);
  try {
    meet();
  } catch (const gloo::Exception& error) {
    throw PeerLost(std::string("cannot connect to the other ranks: ") + error.what());
  } catch (const SocketError& error) {
    throw PeerLost(std::string("cannot meet the other ranks: ") + error.what());
  }
  thread_ = std::thread([this] { run(); });
}

GlooCommunicator::~GlooCommunicator() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void GlooCommunicator::meet() {
  RendezvousClient client(options_.master_address, options_.master_port, options_.secret,
                          options_.meeting_timeout, options_.stop);
  await_all_ranks(client, options_);
  GlooStore store(client, options_.meeting_timeout);
  auto device = gloo::transport::tcp::CreateDevice(client.own_address().c_str());
  auto context = std::make_shared<gloo::rendezvous::Context>(options_.rank, options_.size);
  context->setTimeout(options_.meeting_timeout);
  context->connectFullMesh(store, device);
  context->setTimeout(options_.operation_timeout);
  context_ = context;
  // Rank 0's store must outlive everybody's use of it.
  client.set("connected/" + std::to_string(options_.rank), "");
  for (int rank = 0; rank < options_.size; ++rank)
    client.get("connected/" + std::to_string(rank), options_.meeting_timeout);
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

std::future<void> GlooCommunicator::enqueue(std::function<void(std::uint32_t tag)> operation) {
  Task task([operation = std::move(operation), tag = next_tag_++] {
    try {
      operation(tag);
    } catch (const gloo::Exception& error) {
      throw PeerLost(std::string("another rank is lost: ") + error.what());
    }
  });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
  return done;
}

template <class T>
std::future<void> GlooCommunicator::sum(std::span<T> values) {
  return enqueue([this, values](std::uint32_t tag) {
    if (values.empty()) return;
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);  // adds in a fixed order
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        [](void* out, const void* a, const void* b, std::size_t count) { gloo::sum<T>(out, a, b, count); });
    options.setTag(tag);
    gloo::allreduce(options);
  });
}

std::future<void> GlooCommunicator::all_reduce(std::span<float> values) { return sum(values); }
std::future<void> GlooCommunicator::all_reduce(std::span<double> values) { return sum(values); }

void GlooCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  enqueue([this, bytes, root](std::uint32_t tag) {
    if (bytes.empty()) return;
    gloo::BroadcastOptions options(context_);
    options.setOutput(reinterpret_cast<char*>(bytes.data()), bytes.size());
    options.setRoot(root);
    options.setTag(tag);
    gloo::broadcast(options);
  }).get();
}

void GlooCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  PODIUM_CHECK(all.size() == own.size() * static_cast<std::size_t>(size()), "one part for every rank");
  enqueue([this, own, all](std::uint32_t tag) {
    if (own.empty()) return;
    gloo::AllgatherOptions options(context_);
    // Gloo reads the input only, but its signature is not const.
    options.setInput(const_cast<char*>(reinterpret_cast<const char*>(own.data())), own.size());
    options.setOutput(reinterpret_cast<char*>(all.data()), all.size());
    options.setTag(tag);
    gloo::allgather(options);
  }).get();
}

void GlooCommunicator::barrier() {
  enqueue([this](std::uint32_t tag) {
    gloo::BarrierOptions options(context_);
    options.setTag(tag);
    gloo::barrier(options);
  }).get();
}

}  // namespace podium
