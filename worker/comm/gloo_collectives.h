// Collectives over Gloo's unbound buffers. Each rank exchanges with every other rank directly: that takes the
// fewest hops and the least traffic, and adds every element in the order of the ranks, so all-reduce and
// reduce-scatter give the same bits however a buffer is cut. They block, and throw PeerLost, which names the
// rank that they waited for. Gloo does not tell whose message is missing, so every peer has a buffer of its
// own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "worker/comm/gloo_poster.h"
#include "worker/comm/peer_wait.h"
#include "worker/comm/reduction.h"

namespace gloo {
class Context;
}

namespace podium {

struct GlooCall {
  const std::shared_ptr<gloo::Context>& context;
  GlooPoster& poster;
  PeerWait& wait;
  std::uint32_t tag;                // no other call under way has this tag
  std::vector<std::byte>& scratch;  // one call at a time uses it; kept between calls to keep its pages
};

void gloo_all_reduce(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction);
// Parts as Communicator::reduce_scatter has them.
void gloo_reduce_scatter(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction);
void gloo_all_gather(GlooCall call, std::span<const std::byte> own, std::span<std::byte> all);
void gloo_broadcast(GlooCall call, std::span<std::byte> bytes, int root);
void gloo_barrier(GlooCall call);

}  // namespace podium
