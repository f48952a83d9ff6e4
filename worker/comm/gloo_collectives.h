// Collectives over Gloo's unbound buffers, each rank exchanging with every other directly: the fewest hops,
// the least traffic, and sums whose order is the ranks' for every element, so that all-reduce and
// reduce-scatter give the same bits however a buffer is cut. They block; throw PeerLost naming the rank that
// was waited for, which is why every peer has a buffer of its own: Gloo does not tell whose message is
// missing.
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
  std::uint32_t tag;                // of no other call under way
  std::vector<std::byte>& scratch;  // of one call at a time; kept between them, for its pages
};

void gloo_all_reduce(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction);
// Parts as Communicator::reduce_scatter has them.
void gloo_reduce_scatter(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction);
void gloo_all_gather(GlooCall call, std::span<const std::byte> own, std::span<std::byte> all);
void gloo_broadcast(GlooCall call, std::span<std::byte> bytes, int root);
void gloo_barrier(GlooCall call);

}  // namespace podium
