#include "worker/comm/gloo_mesh.h"

#include <gloo/context.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/address.h>
#include <netinet/in.h>

#include <cstring>

#include "worker/comm/address_exchange.h"
#include "worker/comm/communicator.h"

namespace podium {
namespace {

using gloo::transport::tcp::Address;

constexpr std::size_t kAddressBytes = sizeof(sockaddr_in6);  // of a sockaddr_storage; the rest is zero

// A context whose connections were made here.
class Mesh final : public gloo::Context {
 public:
  Mesh(int own_rank, int ranks, const std::shared_ptr<gloo::transport::Device>& device,
       std::chrono::milliseconds timeout)
      : gloo::Context(own_rank, ranks) {
    setTimeout(timeout);
    device_ = device;
    transportContext_ = device_->createContext(own_rank, ranks);
    transportContext_->setTimeout(timeout);
  }

  // Where this rank listens for `peer`.
  std::string listen_for(int peer) {
    const auto& pair = transportContext_->createPair(peer);
    const sockaddr_storage& address = dynamic_cast<const Address&>(pair->address()).getSockaddr();
    return {reinterpret_cast<const char*>(&address), kAddressBytes};
  }

  void connect(int peer, const std::string& address) {
    sockaddr_storage storage{};
    std::memcpy(&storage, address.data(), address.size());
    transportContext_->getPair(peer)->connect(Address(storage).bytes());
  }
};

}  // namespace

std::shared_ptr<gloo::Context> connect_mesh(RendezvousClient& client, const std::string& name, int rank,
                                            int size, const std::shared_ptr<gloo::transport::Device>& device,
                                            std::chrono::milliseconds timeout) {
  const auto mesh = std::make_shared<Mesh>(rank, size, device, timeout);
  connect_all(
      client, name, rank, size, [&](int peer) { return mesh->listen_for(peer); },
      [&](int peer, const std::string& address) { mesh->connect(peer, address); }, timeout);
  return mesh;
}

}  // namespace podium
