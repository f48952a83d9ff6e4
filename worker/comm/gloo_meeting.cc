#include "worker/comm/gloo_meeting.h"

#include <gloo/common/error.h>
#include <gloo/context.h>
#include <gloo/transport/tcp/device.h>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_mesh.h"

namespace podium {

GlooMeeting::GlooMeeting(const GlooOptions& options)
    : options_(options), waits_(options.long_wait, options.on_long_wait) {
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
  const auto missing = client_->wait_for_all("rank/", options_.size, options_.meeting_timeout);
  if (missing)
    throw PeerLost("rank " + std::to_string(*missing) + " of " + std::to_string(options_.size) +
                   " did not come to the rendezvous at " + options_.master_address + ":" +
                   std::to_string(options_.master_port) + " within " +
                   std::to_string(options_.meeting_timeout.count() / 1000) + " s");
}

std::shared_ptr<gloo::Context> GlooMeeting::connect(const std::string& name, int rank, int size) {
  try {
    auto context = connect_mesh(*client_, name, rank, size, device_, options_.meeting_timeout);
    context->setTimeout(options_.operation_timeout);
    return context;
  } catch (const gloo::Exception& error) {
    throw PeerLost("cannot connect to the other ranks (" + name + "): " + error.what());
  } catch (const SocketError& error) {
    throw PeerLost("cannot connect to the other ranks (" + name + "): " + error.what());
  }
}

}  // namespace podium
