// Gloo's connections within a group, each rank with each.
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

// Collective. Throws PeerLost, SocketError or gloo::Exception. Gloo has a connectFullMesh of its own, in
// which every rank reads everything that all ranks have for all others: with thousands of ranks, terabytes.
std::shared_ptr<gloo::Context> connect_mesh(RendezvousClient& client, const std::string& name, int rank,
                                            int size, const std::shared_ptr<gloo::transport::Device>& device,
                                            std::chrono::milliseconds timeout);

}  // namespace podium
