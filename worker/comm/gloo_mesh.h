// Gloo's connections between all pairs of ranks of a group.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "worker/comm/rendezvous.h"

namespace gloo {
class Context;
namespace transport {
class Device;
}
}  // namespace gloo

namespace podium {

// Collective. Throws PeerLost, SocketError or gloo::Exception. It replaces Gloo's connectFullMesh, in which
// every rank reads the addresses of all pairs: terabytes with thousands of ranks.
std::shared_ptr<gloo::Context> connect_mesh(RendezvousClient& client, const std::string& name, int rank,
                                            int size, const std::shared_ptr<gloo::transport::Device>& device,
                                            std::chrono::milliseconds timeout);

}  // namespace podium
