// CUDA's attention under every order of threads, which only the execution shim can choose.
#include <cstring>

#include "tests/cuda_shim/block.h"
#include "tests/worker/ops/attention_batch.h"
#include "worker/ops/inference_attention.h"

namespace podium::test {
namespace {

TEST(CudaAttentionOrder, OfThreadsDoesNotMatter) {
  for (const DType type : {DType::bf16, DType::f32}) {
    for (const std::int64_t head_size : {64, 128}) {
      shim::results_in_every_order([&] {
        Context context = make_context(1);
        Attention attention(
            type,
            {.sequences = 2, .length = 150, .heads = 1, .head_size = head_size, .causal = head_size == 64});
        attention.valid = {150, 70};
        attention.forward(context);
        attention.backward(context);
        std::vector<std::byte> results;
        for (Tensor* const tensor : {&attention.out, &attention.dqkv, &attention.column_sums}) {
          const auto* const bytes = static_cast<const std::byte*>(tensor->view().address);
          results.insert(results.end(), bytes, bytes + tensor->view().bytes());
        }
        return results;
      });
    }
  }
}

// Keys split over a block's warps, in two stages of copies.
TEST(CudaAttentionOrder, OfThreadsDoesNotMatterWhereKeysAreSplit) {
  shim::results_in_every_order([&] {
    Context context = make_context(1);
    Attention attention(DType::f16, {.sequences = 1, .length = 150, .heads = 1, .head_size = 64});
    attention.valid = {140};
    ops::inference_attention(context, attention.shape, attention.qkv.view(), attention.valid,
                             attention.out.view());
    const auto* const bytes = static_cast<const std::byte*>(attention.out.view().address);
    return std::vector<std::byte>(bytes, bytes + attention.out.view().bytes());
  });
}

}  // namespace
}  // namespace podium::test
