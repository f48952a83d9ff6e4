// Sums gradients over the ranks while backward still computes: ranges that became final gather into buckets,
// and each full bucket starts its all-reduce. Bucket borders depend on the model alone, so a layout always
// adds in one order.
#pragma once

#include <cstdint>
#include <future>
#include <span>
#include <vector>

#include "worker/comm/communicator.h"

namespace podium {

class GradientBuckets {
 public:
  // `bucket` in elements.
  GradientBuckets(Communicator& comm, std::span<float> gradients, std::int64_t bucket);
  ~GradientBuckets();  // waits for what is under way: it uses the gradients
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // [begin, end) is final. Ranges must come without gaps from the end of the buffer to its beginning.
  void ready(std::int64_t begin, std::int64_t end);
  // Sends the rest and waits for everything.
  void finish();

 private:
  void send();

  Communicator& comm_;
  std::span<float> gradients_;
  std::int64_t bucket_;
  std::int64_t begin_;  // [begin_, end_) is final and not yet sent
  std::int64_t end_;
  std::vector<std::future<void>> under_way_;
};

}  // namespace podium
