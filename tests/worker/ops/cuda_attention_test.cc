// CUDA's attention against the CPU back end where its tiling depends on the batch.
#include "tests/worker/ops/attention_batch.h"

namespace podium::test {
namespace {

// Computed in `type`.
void expect_close_to_cpu(const Tensor& actual, const Tensor& expected, DType type, const char* what) {
  const double tolerance = type == DType::f32 ? 1e-5 : type == DType::bf16 ? 6e-3 : 1e-3;
  expect_close(values_of(actual), values_of(expected), tolerance, what);
}

// Enough heads for forward's tiling of large batches; two sequences are longer than its tiles and the others
// short.
TEST(CudaAttention, ComputesWhatTheCpuComputesForLargeBatches) {
  Context cuda = make_context(1), cpu{.threads = 2};
  std::vector<std::int32_t> begins = {0, 200, 330};
  while (begins.size() < 65) begins.push_back(begins.back() + 2);
  for (const std::int64_t head_size : {64, 128}) {
    SCOPED_TRACE(head_size);
    const DType type = head_size == 64 ? DType::bf16 : DType::f16;
    const ops::AttentionShape shape{.sequences = 64,
                                    .length = 200,
                                    .heads = 2,
                                    .head_size = head_size,
                                    .causal = head_size == 64,
                                    .row_begins = begins,
                                    .packed_rows = begins.back()};
    Attention actual(type, shape), expected(type, shape);
    actual.forward(cuda);
    expected.forward(cpu);
    expect_close_to_cpu(actual.out, expected.out, type, "out");
    actual.backward(cuda);
    expected.backward(cpu);
    expect_close_to_cpu(actual.dqkv, expected.dqkv, type, "dqkv");
    expect_close_to_cpu(actual.column_sums, expected.column_sums, type, "column_sums");
  }
}

TEST(CudaAttention, ComputesWhatTheCpuComputesInF32) {
  Context cuda = make_context(1), cpu{.threads = 2};
  for (const std::int64_t head_size : {20, 64, 256}) {
    SCOPED_TRACE(head_size);
    const ops::AttentionShape shape{
        .sequences = 2, .length = 67, .heads = 2, .head_size = head_size, .causal = head_size == 64};
    Attention actual(DType::f32, shape), expected(DType::f32, shape);
    for (Attention* const attention : {&actual, &expected}) {
      Context& context = attention == &actual ? cuda : cpu;
      attention->forward(context);
      attention->backward(context);
    }
    expect_close_to_cpu(actual.out, expected.out, DType::f32, "out");
    expect_close_to_cpu(actual.dqkv, expected.dqkv, DType::f32, "dqkv");
    expect_close_to_cpu(actual.column_sums, expected.column_sums, DType::f32, "column_sums");
  }
}

}  // namespace
}  // namespace podium::test
