// LAMB (You et al., 2020) as in NVIDIA's recipe (apex, multi_tensor_lamb.cu): each decayed parameter moves by
// lr |w| / |u|, the others, and all where there is no weight decay, by lr.
#include <cmath>
#include <numeric>

#include "worker/ops/optimizer.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

class Lamb final : public Optimizer {
 public:
  explicit Lamb(Parts parts) : Optimizer(std::move(parts), {"first_moment", "second_moment"}) {}

 private:
  void update_chunks(const OptimizerShard& shard, const Rates& rates,
                     const BeforeChange& before_change) override {
    if (on_device()) return update_on_device(shard, rates);
    std::vector<Squares> squares(chunks_.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      about_to_change(shard, chunks_[c], before_change);
      squares[c] = lamb_direction(shard, chunks_[c], rates);
    }
    const std::vector<float> scales = scales_of(rates, squares);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (const OptimizerChunk& chunk : chunks_)
      lamb_step(shard, chunk, scales[static_cast<std::size_t>(chunk.parameter)]);
  }

  void update_on_device(const OptimizerShard& shard, const Rates& rates) {
    const MemorySpace& memory = context_.memory;
    const std::span<Squares> squares = room_for<Squares>(squares_, chunks_.size());
    const std::span<float> scales = room_for<float>(scales_, decays_.size());
    ops::lamb_direction(context_, shard, rates, squares);
    if (holds_whole_parameters())
      ops::lamb_scales(context_, shard, chunk_begins(), squares, rates.learning_rate, scales);
    else
      memory.upload<float>(scales, scales_of(rates, memory.downloaded<Squares>(squares)));
    ops::lamb_step(context_, shard, scales);
  }

  // On the device: of each parameter's chunks, which follow one another, and the end.
  std::span<const std::int32_t> chunk_begins() {
    const std::size_t count = decays_.size() + 1;
    if (chunk_begins_.shape().rank() == 0) {
      std::vector<std::int32_t> begins(count);
      for (const OptimizerChunk& chunk : chunks_) ++begins[static_cast<std::size_t>(chunk.parameter) + 1];
      std::partial_sum(begins.begin(), begins.end(), begins.begin());
      context_.memory.upload<std::int32_t>(room_for<std::int32_t>(chunk_begins_, count), begins);
    }
    return room_for<std::int32_t>(chunk_begins_, count);
  }

  // By parameter: the learning rate, times |w| / |u| where weight decay applies and neither is zero.
  std::vector<float> scales_of(const Rates& rates, const std::vector<Squares>& squares) {
    std::vector<Squares> sums(decays_.size());
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      Squares& sum = sums[static_cast<std::size_t>(chunks_[c].parameter)];
      sum.weights += squares[c].weights;
      sum.direction += squares[c].direction;
    }
    sum_over_holders(sums);
    std::vector<float> scales;
    for (std::size_t p = 0; p < sums.size(); ++p) {
      const bool trusts = decays_[p] && sums[p].weights > 0 && sums[p].direction > 0;
      const double ratio = trusts ? std::sqrt(sums[p].weights / sums[p].direction) : 1;
      scales.push_back(static_cast<float>(static_cast<double>(rates.learning_rate) * ratio));
    }
    return scales;
  }

  Tensor squares_, scales_, chunk_begins_;  // on a device
};

}  // namespace

std::unique_ptr<Optimizer> make_lamb(Optimizer::Parts parts) {
  return std::make_unique<Lamb>(std::move(parts));
}

}  // namespace podium
