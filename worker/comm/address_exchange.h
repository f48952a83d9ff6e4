// How the ranks of a group learn where they reach each other: every rank has an address for every other, and
// learns the one that each other has for it. Costs each rank two requests to the rendezvous, so that the
// bytes that go through it grow with the square of the group and not with its cube.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "worker/comm/rendezvous.h"

namespace podium {

// Collective over `size` ranks; `name` is of no other group. Connects each with each other: `listen_for`
// gives the address at which this rank waits for a peer, all of one length, and `connect` gets the one at
// which that peer waits for this rank. Returns when all are connected; throws as the two below.
void connect_all(RendezvousClient& client, const std::string& name, int rank, int size,
                 const std::function<std::string(int peer)>& listen_for,
                 const std::function<void(int peer, const std::string& address)>& connect,
                 std::chrono::milliseconds timeout);

// Collective over `size` ranks; `name` is of no other exchange. `own` has an address for each rank, all of
// one length; what is returned has, in rank order, those that the ranks have for this one. Throws PeerLost
// naming a rank that did not come within `timeout`.
std::vector<std::string> exchange_addresses(RendezvousClient& client, const std::string& name, int rank,
                                            const std::vector<std::string>& own,
                                            std::chrono::milliseconds timeout);

// Collective, likewise: returns when all `size` ranks have come here.
void meet_all(RendezvousClient& client, const std::string& name, int rank, int size,
              std::chrono::milliseconds timeout);

}  // namespace podium
