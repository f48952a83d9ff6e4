// How the ranks of a group learn where they reach one another: every rank has an address for every other
// rank, and learns the address that each of the others has for it. It costs each rank two requests to the
// rendezvous, so the bytes that go through it grow with the square of the group's size and not with its cube.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "worker/comm/rendezvous.h"

namespace podium {

// Collective over `size` ranks. No other group has this `name`. Connects every pair of ranks: `listen_for`
// returns the address at which this rank waits for a peer (all addresses have one length), and `connect` is
// given the address at which that peer waits for this rank. Returns when all are connected. Throws what the
// two functions below throw.
void connect_all(RendezvousClient& client, const std::string& name, int rank, int size,
                 const std::function<std::string(int peer)>& listen_for,
                 const std::function<void(int peer, const std::string& address)>& connect,
                 std::chrono::milliseconds timeout);

// Collective over `size` ranks. No other exchange has this `name`. `own` has an address for each rank, all of
// one length. Returns, in rank order, the addresses that the ranks have for this rank. Throws PeerLost, which
// names a rank that did not come within `timeout`.
std::vector<std::string> exchange_addresses(RendezvousClient& client, const std::string& name, int rank,
                                            const std::vector<std::string>& own,
                                            std::chrono::milliseconds timeout);

// Collective, with the same `name` and errors. Returns when all `size` ranks have called it.
void meet_all(RendezvousClient& client, const std::string& name, int rank, int size,
              std::chrono::milliseconds timeout);

}  // namespace podium
