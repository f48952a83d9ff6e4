// AdamW (Loshchilov and Hutter, 2019).
#include "worker/ops/optimizer.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

class AdamW final : public Optimizer {
 public:
  explicit AdamW(Parts parts) : Optimizer(std::move(parts), {"first_moment", "second_moment"}) {}

 private:
  void update_chunks(const OptimizerShard& shard, const Rates& rates,
                     const BeforeChange& before_change) override {
    if (on_device()) return ops::adamw(context_, shard, rates);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (const OptimizerChunk& chunk : chunks_) {
      about_to_change(shard, chunk, before_change);
      adamw(shard, chunk, rates);
    }
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(Optimizer::Parts parts) {
  return std::make_unique<AdamW>(std::move(parts));
}

}  // namespace podium
