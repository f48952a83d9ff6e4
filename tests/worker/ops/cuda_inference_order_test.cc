// What of CUDA's inference products only the execution shim shows: that no order of threads matters.
#include <cstring>
#include <tuple>

#include "tests/cuda_shim/block.h"
#include "tests/worker/ops/inference_product.h"

namespace podium::test {
namespace {

class CudaInferenceOrder : public testing::TestWithParam<std::tuple<DType, bool>> {};  // sparse?

TEST_P(CudaInferenceOrder, OfThreadsDoesNotMatter) {
  const auto [type, is_sparse] = GetParam();
  // Five slabs and a part.
  const std::int64_t in = (5 * 128 + 32) / static_cast<std::int64_t>(size_of(type)) * (is_sparse ? 2 : 1);
  const TestedProduct product({37, 72, in, type, DType::f32, is_sparse, Activation::gelu, true});
  for (const InferenceWay& way : product.ways()) {
    shim::results_in_every_order([&] {
      const Tensor y = product.by(way).value();
      const auto* const bytes = static_cast<const std::byte*>(y.view().address);
      return std::vector<std::byte>(bytes, bytes + y.view().bytes());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaInferenceOrder,
                         testing::Combine(testing::Values(DType::f16, DType::bf16, DType::i8, DType::e4m3),
                                          testing::Bool()),
                         name_of);

TEST(CudaInferenceWays, AreTheCheapestFirst) {
  // BERT-Large's four products in f16 at 128 rows: as many blocks as there are multiprocessors.
  const auto first = [](std::int64_t out, std::int64_t in) {
    return ops::cuda::tile_plans({128, out, 2 * in, 2 * in}, 227 << 10).front();
  };
  EXPECT_EQ(first(1024, 1024), (ops::cuda::TilePlan{0, 1}));
  EXPECT_EQ(first(4096, 1024), (ops::cuda::TilePlan{2, 1}));
  EXPECT_EQ(first(1024, 4096), (ops::cuda::TilePlan{2, 4}));
  for (const auto& plan : ops::cuda::tile_plans({128, 1024, 2048, 2048}, 99 << 10))
    EXPECT_LE(ops::cuda::kTileSizes[plan.tile].shared_bytes, 99 << 10);
}

}  // namespace
}  // namespace podium::test
