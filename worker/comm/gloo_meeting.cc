#include "worker/comm/gloo_meeting.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>

#include "worker/comm/communicator.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

// Gloo's view of the rendezvous: a part of its keys.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  GlooStore(RendezvousClient& client, std::string prefix, milliseconds timeout)
      : client_(client), prefix_(std::move(prefix)), timeout_(timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    client_.set(prefix_ + key, {data.data(), data.size()});
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = client_.get(prefix_ + key, timeout_);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    for (const std::string& key : keys) client_.get(prefix_ + key, timeout);
  }

 private:
  RendezvousClient& client_;
  std::string prefix_;
  milliseconds timeout_;
};

}  // namespace

GlooMeeting::GlooMeeting(const GlooOptions& options) : options_(options) {
  // Of each rank this meeting's connection and two of its PeerWatch; and a few more, for a stranger's must
  // not keep a rank out.
  if (options.rank == 0)
    server_ = std::make_unique<RendezvousServer>(options.master_address, options.master_port, options.secret,
                                                 3 * options.size + 64);
  try {
    client_ = std::make_unique<RendezvousClient>(options.master_address, options.master_port, options.secret,
                                                 options.meeting_timeout, options.stop);
    await_all_ranks();
    device_ = gloo::transport::tcp::CreateDevice(client_->own_address().c_str());
    poster_ = std::make_unique<GlooPoster>(device_);
  } catch (const gloo::Exception& error) {
    throw PeerLost(std::string("cannot connect to the other ranks: ") + error.what());
  } catch (const SocketError& error) {
    throw PeerLost(std::string("cannot meet the other ranks: ") + error.what());
  }
}

GlooMeeting::~GlooMeeting() = default;

// By name, so that the error can say who is missing.
void GlooMeeting::await_all_ranks() {
  client_->set("rank/" + std::to_string(options_.rank), "");
  const auto deadline = std::chrono::steady_clock::now() + options_.meeting_timeout;
  for (int rank = 0; rank < options_.size; ++rank) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      client_->get("rank/" + std::to_string(rank), std::max(left, milliseconds(1)));
    } catch (const SocketError& error) {
      throw PeerLost("rank " + std::to_string(rank) + " of " + std::to_string(options_.size) +
                     " did not come to the rendezvous at " + options_.master_address + ":" +
                     std::to_string(options_.master_port) + ": " + error.what());
    }
  }
}

std::shared_ptr<gloo::Context> GlooMeeting::connect(const std::string& name, int rank, int size) {
  const auto connected = [&](int other) { return name + "/connected/" + std::to_string(other); };
  try {
    GlooStore store(*client_, name + "/", options_.meeting_timeout);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->setTimeout(options_.meeting_timeout);
    context->connectFullMesh(store, device_);
    context->setTimeout(options_.operation_timeout);
    client_->set(connected(rank), "");
    for (int other = 0; other < size; ++other) client_->get(connected(other), options_.meeting_timeout);
    return context;
  } catch (const gloo::Exception& error) {
    throw PeerLost("cannot connect to the other ranks (" + name + "): " + error.what());
  } catch (const SocketError& error) {
    throw PeerLost("cannot connect to the other ranks (" + name + "): " + error.what());
  }
}

}  // namespace podium
