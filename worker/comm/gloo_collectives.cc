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
        values_(values),
        reduction_(reduction),
        count_(values.size() / reduction.element_size),
        scatter_slot_(gloo::Slot::build(kScatterSlot, call.tag)),
        gather_slot_(gloo::Slot::build(kGatherSlot, call.tag)),
        peers_(static_cast<std::size_t>(context_.size - 1)),
        buffer_(buffer_over(call, values)) {
    const std::size_t size = peers_ * kSegment;
    const std::span<std::byte> scratch = scratch_of(call, windows_.size() * size);
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      windows_[i].memory = scratch.subspan(i * size, size);
      windows_[i].buffer = buffer_over(call, windows_[i].memory);
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
    for (; receives_ > 0; --receives_) wait_received(*buffer_, context_.getTimeout());
    for (; sends_ > 0; --sends_) wait_sent(*buffer_, context_.getTimeout());
  }

 private:
  // In bytes, into the values.
  struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Window {
    std::span<std::byte> memory;
    Buffer buffer;
  };

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

  void add(Direction direction, const Buffer& buffer, int peer, std::uint64_t slot, Piece piece) {
    if (piece.size == 0) return;
    messages_.push_back({direction, buffer, peer, slot, piece.begin, piece.size});
    if (buffer == buffer_) ++(direction == Direction::send ? sends_ : receives_);
  }
  void post() { poster_.post(std::exchange(messages_, {})); }

  void add_scatter(std::size_t segment) {
    const Buffer& window = windows_[segment % kSegmentsUnderWay].buffer;
    const std::size_t size = piece(context_.rank, segment).size;
    std::size_t place = 0;
    for_each_peer(context_, [&](int peer) {
      add(Direction::receive, window, peer, scatter_slot_, {place++ * kSegment, size});
    });
    for_each_peer(context_, [&](int peer) {
      add(Direction::send, buffer_, peer, scatter_slot_, piece(peer, segment));
    });
  }

  // Results overwrite only what was received by their sender before it could add it up.
  void add_gather() {
    for (std::size_t k = 0; k < segments(); ++k)
      for_each_peer(context_,
                    [&](int peer) { add(Direction::receive, buffer_, peer, gather_slot_, piece(peer, k)); });
  }

  void reduce_own(std::size_t segment) {
    const Piece own = piece(context_.rank, segment);
    if (own.size == 0) return;
    Window& window = windows_[segment % kSegmentsUnderWay];
    for (std::size_t i = 0; i < peers_; ++i) wait_received(*window.buffer, context_.getTimeout());
    std::vector<const std::byte*> parts(peers_ + 1);
    parts[static_cast<std::size_t>(context_.rank)] = values_.data() + own.begin;
    std::size_t place = 0;
    for_each_peer(context_, [&](int peer) {
      parts[static_cast<std::size_t>(peer)] = window.memory.data() + place++ * kSegment;
    });
    reduction_.reduce(parts, values_.data() + own.begin, own.size / reduction_.element_size);
  }

  void add_result(std::size_t segment) {
    for_each_peer(context_, [&](int peer) {
      add(Direction::send, buffer_, peer, gather_slot_, piece(context_.rank, segment));
    });
  }

  const gloo::Context& context_;
  GlooPoster& poster_;
  std::span<std::byte> values_;
  const ElementReduction& reduction_;
  std::size_t count_;
  std::uint64_t scatter_slot_;
  std::uint64_t gather_slot_;
  std::size_t peers_;
  std::size_t sends_ = 0;     // on buffer_, not yet waited for
  std::size_t receives_ = 0;  // likewise
  std::vector<GlooMessage> messages_;
  std::array<Window, kSegmentsUnderWay> windows_;
  Buffer buffer_;
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
  const Buffer buffer = buffer_over(call, all);
  std::vector<GlooMessage> messages;
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::receive, buffer, peer, slot, place(peer), own.size()});
  });
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::send, buffer, peer, slot, place(context.rank), own.size()});
  });
  call.poster.post(std::move(messages));
  for_each_peer(context, [&](int) { wait_received(*buffer, context.getTimeout()); });
  for_each_peer(context, [&](int) { wait_sent(*buffer, context.getTimeout()); });
}

void gloo_broadcast(GlooCall call, std::span<std::byte> bytes, int root) {
  const gloo::Context& context = *call.context;
  const std::uint64_t slot = gloo::Slot::build(kGatherSlot, call.tag);
  const Buffer buffer = buffer_over(call, bytes);
  if (context.rank != root) {
    call.poster.post({{Direction::receive, buffer, root, slot, 0, bytes.size()}});
    wait_received(*buffer, context.getTimeout());
    return;
  }
  std::vector<GlooMessage> messages;
  for_each_peer(context, [&](int peer) {
    messages.push_back({Direction::send, buffer, peer, slot, 0, bytes.size()});
  });
  call.poster.post(std::move(messages));
  for_each_peer(context, [&](int) { wait_sent(*buffer, context.getTimeout()); });
}

void gloo_barrier(GlooCall call) {
  const std::byte here{};
  gloo_all_gather(call, std::span(&here, 1), scratch_of(call, static_cast<std::size_t>(call.context->size)));
}

}  // namespace podium
