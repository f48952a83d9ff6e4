// The sums of a head's loss terms, added up over micro-batches where they are computed, and fetched from
// there without waiting for later work.
#pragma once

#include "worker/nn/micro_batch.h"
#include "worker/ops/cross_entropy.h"
#include "worker/tensor/download_buffer.h"
#include "worker/tensor/tensor.h"

namespace podium {

class LossTotals {
 public:
  explicit LossTotals(MemorySpace memory)
      : memory_(memory), sums_(DType::u8, Shape{kBytes}, memory.device), fetched_(memory) {
    clear();
  }

  // Of each term, in the memory space: what ops add to.
  ops::CrossEntropySums* sums() { return static_cast<ops::CrossEntropySums*>(sums_.view().address); }

  // Begins to bring the sums to the host, and starts anew at zero.
  void fetch() {
    fetched_.fetch(std::span(sums(), kMostLossTerms));
    clear();
  }
  // What was fetched last, or else the sums of now; waits until it has come.
  LossSums take() {
    if (!fetched_.fetching()) fetch();
    const auto sums = fetched_.arrived<ops::CrossEntropySums>();
    LossSums losses;
    for (std::size_t term = 0; term < losses.size(); ++term)
      losses[term] = {sums[term].loss, sums[term].rows, sums[term].correct};
    return losses;
  }

 private:
  static constexpr std::size_t kBytes = kMostLossTerms * sizeof(ops::CrossEntropySums);

  void clear() { memory_.clear(sums(), kBytes); }

  MemorySpace memory_;
  Tensor sums_;
  DownloadBuffer fetched_;
};

}  // namespace podium
