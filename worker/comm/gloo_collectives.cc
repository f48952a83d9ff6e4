#include "worker/comm/gloo_collectives.h"

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <gloo/types.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace podium {
namespace {

// Beyond those Gloo's own collectives use.
constexpr std::uint8_t kScatterSlot = 0x21;
constexpr std::uint8_t kGatherSlot = 0x22;

constexpr std::size_t kSmall = 16 << 10;      // bytes up to which every rank sends everything to every other
constexpr std::size_t kSegment = 256 << 10;   // bytes of one message of a large reduction
constexpr std::size_t kSegmentsUnderWay = 2;  // from each peer

using Buffer = std::shared_ptr<gloo::transport::UnboundBuffer>;  // shared with Gloo's loop
using Direction = GlooMessage::Direction;

Buffer buffer_over(const GlooCall& call, std::span<std::byte> bytes) {
  return call.context->createUnboundBuffer(bytes.data(), bytes.size());
}

// One over the same bytes for each other rank, by rank.
std::vector<Buffer> buffers_over(const GlooCall& call, std::span<std::byte> bytes) {
  std::vector<Buffer> buffers(static_cast<std::size_t>(call.context->size));
  for (int peer = 0; peer < call.context->size; ++peer)
    if (peer != call.context->rank) buffers[static_cast<std::size_t>(peer)] = buffer_over(call, bytes);
  return buffers;
}

std::span<std::byte> scratch_of(const GlooCall& call, std::size_t size) {
  if (call.scratch.size() < size) call.scratch.resize(size);
  return std::span(call.scratch).first(size);
}

// The other ranks, beginning behind this one, so that not all of them turn to the same rank first.
template <class Visit>
void for_each_peer(const gloo::Context& context, Visit visit) {
  for (int i = 1; i < context.size; ++i) visit((context.rank + i) % context.size);
}

// One reduction of a large buffer. It is cut into one part a rank; a rank receives its own part from every
// other, adds, and, in an all-reduce, sends the result to every other. All of it goes segment by segment, so
// that receiving, adding and sending overlap.
class LargeReduction {
 public:
  LargeReduction(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction)
      : context_(*call.context),
        poster_(call.poster),
        wait_(call.wait),
        values_(values),
        reduction_(reduction),
        count_(values.size() / reduction.element_size),
        scatter_slot_(gloo::Slot::build(kScatterSlot, call.tag)),
        gather_slot_(gloo::Slot::build(kGatherSlot, call.tag)),
        peers_(static_cast<std::size_t>(context_.size - 1)),
        sends_(peers_ + 1),
        receives_(peers_ + 1),
        buffers_(buffers_over(call, values)) {
    const std::size_t size = peers_ * kSegment;
    const std::span<std::byte> scratch = scratch_of(call, windows_.size() * size);
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      windows_[i].memory = scratch.subspan(i * size, size);
      windows_[i].buffers = buffers_over(call, windows_[i].memory);
    }
  }

  void run(bool gather) {
    for (std::size_t k = 0; k < std::min(kSegmentsUnderWay, segments()); ++k) add_scatter(k);
    if (gather) add_gather();
    post();
    for (std::size_t k = 0; k < segments(); ++k) {
      reduce_own(k);
      if (k + kSegmentsUnderWay < segments()) add_scatter(k + kSegmentsUnderWay);
      if (gather) add_result(k);
      post();
    }
    for_each_peer(context_, [&](int peer) {
      for (; receives_[at(peer)] > 0; --receives_[at(peer)])
        wait_.received(*buffers_[at(peer)], peer, context_.getTimeout());
    });
    for_each_peer(context_, [&](int peer) {
      for (; sends_[at(peer)] > 0; --sends_[at(peer)])
        wait_.sent(*buffers_[at(peer)], peer, context_.getTimeout());
    });
  }

 private:
  // In bytes, into the values.
  struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Window {
    std::span<std::byte> memory;
    std::vector<Buffer> buffers;  // by rank
  };

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  std::size_t border(int rank) const {
    const auto part = static_cast<std::size_t>(rank);
    return count_ * part / static_cast<std::size_t>(context_.size) * reduction_.element_size;
  }
  Piece piece(int rank, std::size_t segment) const {
    const std::size_t end = border(rank + 1);
    const std::size_t begin = std::min(border(rank) + segment * kSegment, end);
    return {begin, std::min(kSegment, end - begin)};
  }
  // Of the largest part; the last piece of a smaller one may be empty.
  std::size_t segments() const {
    const std::size_t parts = static_cast<std::size_t>(context_.size);
    const std::size_t largest = (count_ + parts - 1) / parts * reduction_.element_size;
    return (largest + kSegment - 1) / kSegment;
  }

  void send(int peer, std::uint64_t slot, Piece piece) {
    if (piece.size == 0) return;
    messages_.push_back({Direction::send, buffers_[at(peer)], peer, slot, piece.begin, piece.size});
    ++sends_[at(peer)];
  }
  void post() { poster_.post(std::exchange(messages_, {})); }

  void add_scatter(std::size_t segment) {
    const Window& window = windows_[segment % kSegmentsUnderWay];
    const std::size_t size = piece(context_.rank, segment).size;
    std::size_t place = 0;
    for_each_peer(context_, [&](int peer) {
      if (size == 0) return;
      messages_.push_back(
          {Direction::receive, window.buffers[at(peer)], peer, scatter_slot_, place++ * kSegment, size});
    });
    for_each_peer(context_, [&](int peer) { send(peer, scatter_slot_, piece(peer, segment)); });
  }

  // Results overwrite only what was received by their sender before it could add it up.
  void add_gather() {
    for (std::size_t k = 0; k < segments(); ++k)
      for_each_peer(context_, [&](int peer) {
        const Piece part = piece(peer, k);
        if (part.size == 0) return;
        messages_.push_back(
            {Direction::receive, buffers_[at(peer)], peer, gather_slot_, part.begin, part.size});
        ++receives_[at(peer)];
      });
  }

  void reduce_own(std::size_t segment) {
    const Piece own = piece(context_.rank, segment);
    if (own.size == 0) return;
    Window& window = windows_[segment % kSegmentsUnderWay];
    for_each_peer(context_,
                  [&](int peer) { wait_.received(*window.buffers[at(peer)], peer, context_.getTimeout()); });
    std::vector<const std::byte*> parts(peers_ + 1);
    parts[static_cast<std::size_t>(context_.rank)] = values_.data() + own.begin;
    std::size_t place = 0;
    for_each_peer(context_, [&](int peer) {
      parts[static_cast<std::size_t>(peer)] = window.memory.data() + place++ * kSegment;
    });
    reduction_.reduce(parts, values_.data() + own.begin, own.size / reduction_.element_size);
  }

  void add_result(std::size_t segment) {
    for_each_peer(context_, [&](int peer) { send(peer, gather_slot_, piece(context_.rank, segment)); });
  }

  const gloo::Context& context_;
  GlooPoster& poster_;
  PeerWait& wait_;
  std::span<std::byte> values_;
  const ElementReduction& reduction_;
  std::size_t count_;
  std::uint64_t scatter_slot_;
  std::uint64_t gather_slot_;
  std::size_t peers_;
  std::vector<std::size_t> sends_;     // by rank: on its buffer, not yet waited for
  std::vector<std::size_t> receives_;  // likewise
  std::vector<GlooMessage> messages_;
  std::array<Window, kSegmentsUnderWay> windows_;
  std::vector<Buffer> buffers_;  // over the values
};

// Every rank adds everything up: one hop.
void reduce_small(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction) {
  const auto size = static_cast<std::size_t>(call.context->size);
  const std::span<std::byte> all = scratch_of(call, values.size() * size);
  gloo_all_gather(call, values, all);
  std::vector<const std::byte*> parts(size);
  for (std::size_t rank = 0; rank < size; ++rank) parts[rank] = all.data() + rank * values.size();
  reduction.reduce(parts, values.data(), values.size() / reduction.element_size);
}

}  // namespace

void gloo_all_reduce(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction) {
  if (values.size() <= kSmall)
    reduce_small(call, values, reduction);
  else
    LargeReduction(call, values, reduction).run(true);
}

void gloo_reduce_scatter(GlooCall call, std::span<std::byte> values, const ElementReduction& reduction) {
  LargeReduction(call, values, reduction).run(false);
}

void gloo_all_gather(GlooCall call, std::span<const std::byte> own, std::span<std::byte> all) {
  const gloo::Context& context = *call.context;
  const std::uint64_t slot = gloo::Slot::build(kGatherSlot, call.tag);
  const auto place = [&](int rank) { return static_cast<std::size_t>(rank) * own.size(); };
  std::byte* const here = all.data() + place(context.rank);
  if (here != own.data()) std::memcpy(here, own.data(), own.size());
  const std::vector<Buffer> buffers = buffers_over(call, all);
  const auto buffer_of = [&](int peer) { return buffers[static_cast<std::size_t>(peer)]; };
  std::vector<GlooMessage> messages;
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::receive, buffer_of(peer), peer, slot, place(peer), own.size()});
  });
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::send, buffer_of(peer), peer, slot, place(context.rank), own.size()});
  });
  call.poster.post(std::move(messages));
  for_each_peer(context, [&](int peer) { call.wait.received(*buffer_of(peer), peer, context.getTimeout()); });
  for_each_peer(context, [&](int peer) { call.wait.sent(*buffer_of(peer), peer, context.getTimeout()); });
}

void gloo_broadcast(GlooCall call, std::span<std::byte> bytes, int root) {
  const gloo::Context& context = *call.context;
  const std::uint64_t slot = gloo::Slot::build(kGatherSlot, call.tag);
  if (context.rank != root) {
    const Buffer buffer = buffer_over(call, bytes);
    call.poster.post({{Direction::receive, buffer, root, slot, 0, bytes.size()}});
    call.wait.received(*buffer, root, context.getTimeout());
    return;
  }
  const std::vector<Buffer> buffers = buffers_over(call, bytes);
  const auto buffer_of = [&](int peer) { return buffers[static_cast<std::size_t>(peer)]; };
  std::vector<GlooMessage> messages;
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::send, buffer_of(peer), peer, slot, 0, bytes.size()});
  });
  call.poster.post(std::move(messages));
  for_each_peer(context, [&](int peer) { call.wait.sent(*buffer_of(peer), peer, context.getTimeout()); });
}

void gloo_barrier(GlooCall call) {
  const std::byte here{};
  gloo_all_gather(call, std::span(&here, 1), scratch_of(call, static_cast<std::size_t>(call.context->size)));
}

}  // namespace podium
