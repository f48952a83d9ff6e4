// Which pairs of query and key attention's dropout keeps, as bits, drawn once for all kernels of a call: the
// transposed products of backward have no use for draws in the order they come in.
//
// A block of 128 keys takes the draws of 16 counters, eight from each, the k-th for the keys 16 * k + lane
// (worker/ops/cpu/draw.cc). So half a warp draws a query's block, and a ballot over a warp's k-th draws is
// the words of strip k for two queries.
#include "worker/ops/cuda/attention_kernels.h"
#include "worker/ops/cuda/dropout.cuh"
#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kPairs = 4;  // of queries, that a warp draws for
constexpr int kQueries = kWarps * kPairs * 2;
constexpr int kBlockKeys = 128;

__global__ void __launch_bounds__(32 * kWarps)
    draw_kept_kernel(AttentionTask task, DropoutParameter parameter, std::int64_t total_heads,
                     std::int64_t first_head) {
  const DeviceDropout dropout = parameter;
  const AttentionHead head = head_of_block(task);
  const int groups = (task.length + kQueries - 1) / kQueries;
  const int block = static_cast<int>(blockIdx.x) / groups;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int query = (static_cast<int>(blockIdx.x) % groups * kWarps + warp) * kPairs * 2;
  const int key = block * kBlockKeys;
  if (query >= head.rows || key >= head.keys || (task.causal && key > query + kPairs * 2 - 1)) return;

  const std::int64_t model_head = blockIdx.z * total_heads + first_head + blockIdx.y;
  const auto counter = static_cast<std::uint32_t>(block * 16 + lane % 16);
  std::uint32_t words = 0;  // of strip lane / kPairs, for the pair lane % kPairs
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    const std::uint64_t row = dropout.row(model_head * task.length + query + 2 * pair + lane / 16);
    const PhiloxCounter draws = philox(dropout.key, {counter, static_cast<std::uint32_t>(row),
                                                     static_cast<std::uint32_t>(row >> 32), dropout.site});
    std::uint32_t ballots[8];  // of strip k
#pragma unroll
    for (int k = 0; k < 8; ++k) {  // a draw in the lower half is moved to where the others are
      const std::uint32_t word = draws[static_cast<std::size_t>(k) / 2];
      ballots[k] = __ballot_sync(kAllLanes, (k % 2 == 0 ? word << 16 : word) >= dropout.threshold << 16);
    }
#pragma unroll
    for (int half = 4; half > 0; half /= 2) {  // down to that of the lane's strip
#pragma unroll
      for (int k = 0; k < half; ++k)
        ballots[k] = (lane / kPairs & half) != 0 ? ballots[k + half] : ballots[k];
    }
    if (lane % kPairs == pair) words = ballots[0];
  }
  const std::int64_t strip = block * (kBlockKeys / kStripKeys) + lane / kPairs;
  const std::int64_t strips = task.padded / kStripKeys;
  auto* const kept = reinterpret_cast<std::uint32_t*>(task.kept);
  kept[((head.index * strips + strip) * task.padded + query) / 2 + lane % kPairs] = words;
}

}  // namespace

void draw_kept(Context& context, const AttentionTask& task, const AttentionShape& shape,
               const Dropout& dropout) {
  const int groups = (task.length + kQueries - 1) / kQueries;
  const dim3 grid(static_cast<unsigned>(groups * (task.padded / kBlockKeys)),
                  static_cast<unsigned>(shape.heads), static_cast<unsigned>(shape.sequences));
  launch(context, "attention_draw_kept", draw_kept_kernel, grid, 32 * kWarps, 0, task,
         DropoutParameter(dropout), shape.total_heads > 0 ? shape.total_heads : shape.heads,
         shape.first_head);
}

}  // namespace podium::ops::cuda
