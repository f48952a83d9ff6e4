// The sums of a head's loss terms over micro-batches. They are added up in the memory that ops compute in,
// and fetched to the host without waiting for work that was put on the stream later.
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

  // One sum for each term, to which ops add.
  ops::CrossEntropySums* sums() { return static_cast<ops::CrossEntropySums*>(sums_.view().address); }

  // Begins to copy the sums to the host, and sets them to zero.
  void fetch() {
    fetched_.fetch(std::span(sums(), kMostLossTerms));
    clear();
  }
  // Returns what was fetched last; if nothing was, fetches the sums now. Waits for the copy.
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
