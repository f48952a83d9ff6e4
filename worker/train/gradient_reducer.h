// Sums gradients over the data ranks while backward still computes. The flat buffer is cut into buckets, from
// its end, and a bucket is sent as soon as all of it is final. With a distributed optimizer (ZeRO-1,
// Rajbhandari et al., 2020) a rank gets the sum of only its part of every bucket, updates that part, and
// gathers the other weights.
//
// Bucket borders depend on the buffer's length and the number of ranks alone, so shards never move.
#pragma once

#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/nn/flat_range.h"

namespace podium {

class GradientReducer {
 public:
  // If distributed, the length of `gradients` is a multiple of 16 * data.size(). `bucket` is a number of
  // elements and is rounded up to such a multiple. Both references must outlive the reducer.
  GradientReducer(Communicator& data, std::span<float> gradients, std::int64_t bucket, bool distributed);
  ~GradientReducer();  // waits for sums under way, which use the gradients
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // gradients[begin, end) are final. Ranges come without gaps from the end of the buffer to its beginning.
  void ready(std::int64_t begin, std::int64_t end);
  // Waits until all gradients are summed; the next `ready` belongs to the next step. If distributed,
  // gradients outside of shard() are then unspecified.
  void finish();

  // What this rank updates: everything; if distributed, its part of every bucket, in order.
  std::vector<FlatRange> shard() const;
  // Call this after the update: it brings the weights of all shards to all ranks. Collective. Does nothing
  // unless distributed.
  void gather(std::span<float> weights);

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(gradients_.size()); }
  FlatRange bucket_before(std::int64_t end) const;
  FlatRange own_part(FlatRange bucket) const;
  void send(FlatRange bucket);

  Communicator& data_;
  std::span<float> gradients_;
  bool distributed_;
  std::int64_t bucket_;
  std::int64_t begin_;  // [begin_, size) is final
  std::int64_t sent_;   // [sent_, size) is under way or summed
  std::vector<std::future<void>> under_way_;
};

}  // namespace podium
