#include "worker/comm/address_exchange.h"

#include "common/base/check.h"
#include "worker/comm/communicator.h"

namespace podium {
namespace {

void set_and_wait(RendezvousClient& client, const std::string& key, const std::string& value, int rank,
                  int size, std::chrono::milliseconds timeout) {
  client.set(key + std::to_string(rank), value);
  if (const auto missing = client.wait_for_all(key, size, timeout))
    throw PeerLost("rank " + std::to_string(*missing) + " of " + std::to_string(size) + " did not come (" +
                   key + ")");
}

}  // namespace

void connect_all(RendezvousClient& client, const std::string& name, int rank, int size,
                 const std::function<std::string(int peer)>& listen_for,
                 const std::function<void(int peer, const std::string& address)>& connect,
                 std::chrono::milliseconds timeout) {
  std::vector<std::string> own(static_cast<std::size_t>(size));
  std::size_t bytes = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    own[static_cast<std::size_t>(peer)] = listen_for(peer);
    bytes = own[static_cast<std::size_t>(peer)].size();
  }
  own[static_cast<std::size_t>(rank)].resize(bytes);  // nobody's
  const std::vector<std::string> others = exchange_addresses(client, name, rank, own, timeout);
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank) connect(peer, others[static_cast<std::size_t>(peer)]);
  meet_all(client, name + "/connected", rank, size, timeout);
}

std::vector<std::string> exchange_addresses(RendezvousClient& client, const std::string& name, int rank,
                                            const std::vector<std::string>& own,
                                            std::chrono::milliseconds timeout) {
  const std::size_t bytes = own.front().size();
  std::string all;
  for (const std::string& address : own) {
    PODIUM_CHECK(address.size() == bytes, "addresses of one length");
    all += address;
  }
  const std::string key = name + "/addresses/";
  const int size = static_cast<int>(own.size());
  set_and_wait(client, key, all, rank, size, timeout);
  const std::string parts = client.parts_of_all(key, size, static_cast<std::size_t>(rank) * bytes, bytes);
  std::vector<std::string> others;
  for (std::size_t i = 0; i < own.size(); ++i) others.push_back(parts.substr(i * bytes, bytes));
  return others;
}

void meet_all(RendezvousClient& client, const std::string& name, int rank, int size,
              std::chrono::milliseconds timeout) {
  set_and_wait(client, name + "/", "", rank, size, timeout);
}

}  // namespace podium
