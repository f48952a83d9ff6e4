// Attention for inference on the CPU where it goes other ways than training's: heads and keys of more than
// one panel, packed sequences, masks.
#include "tests/worker/ops/quantised_values.h"
#include "worker/ops/inference_attention.h"

namespace podium::test {
namespace {

void expect_as_in_training(const ops::AttentionShape& shape, std::span<const std::int32_t> valid,
                           int threads) {
  for (const DType type : {DType::f32, DType::bf16}) {
    SCOPED_TRACE(testing::Message() << to_string(type) << ", " << shape.sequences << " sequences of "
                                    << shape.length << ", heads of " << shape.head_size << ", " << threads
                                    << " threads");
    Context context{.threads = threads};
    const Shape rows{shape.rows(), shape.hidden()};
    const Tensor qkv = tensor_of(random_values(3 * rows.size(), 1), type, {rows[0], 3 * rows[1]});
    Tensor expected(type, rows), found(type, rows);
    ops::attention_forward(context, shape, qkv.view(), valid, {}, {}, expected.view());
    ops::inference_attention(context, shape, qkv.view(), valid, found.view());
    expect_close(values_of(found), values_of(expected), type == DType::f32 ? 1e-6 : 6e-3, "out");
  }
}

TEST(CpuInferenceAttention, TakesHeadsOfSeveralPanels) {
  expect_as_in_training({.sequences = 2, .length = 70, .heads = 2, .head_size = 80}, {}, 2);
  expect_as_in_training({.sequences = 1, .length = 9, .heads = 1, .head_size = 3}, {}, 2);
}

TEST(CpuInferenceAttention, DividesAHeadAmongThreads) {
  expect_as_in_training({.sequences = 1, .length = 140, .heads = 1, .head_size = 64}, {}, 7);
  expect_as_in_training({.sequences = 1, .length = 5, .heads = 1, .head_size = 16}, {}, 7);
}

TEST(CpuInferenceAttention, MasksKeysAndWhatComesLater) {
  const std::vector<std::int32_t> valid{1, 77, 130};
  for (const bool causal : {false, true})
    expect_as_in_training({.sequences = 3, .length = 130, .heads = 2, .head_size = 32, .causal = causal},
                          valid, 2);
}

TEST(CpuInferenceAttention, TakesPackedSequences) {
  const std::vector<std::int32_t> begins{0, 1, 67, 72};
  for (const bool causal : {false, true})
    expect_as_in_training({.sequences = 3,
                           .length = 66,
                           .heads = 2,
                           .head_size = 32,
                           .causal = causal,
                           .row_begins = begins,
                           .packed_rows = 72},
                          {}, 2);
}

// Whatever type queries, keys and values come in.
TEST(CpuInferenceAttention, QuantisesWhatItComputesOfFloats) {
  const ops::AttentionShape shape{.sequences = 2, .length = 70, .heads = 2, .head_size = 64};
  const Shape rows{shape.rows(), shape.hidden()};
  const Values qkv = random_values(3 * rows.size(), 1);
  const auto attention = [&](DType type, Tensor& out) {
    Context context{.threads = 2};
    ops::inference_attention(context, shape, tensor_of(qkv, type, {rows[0], 3 * rows[1]}).view(), {},
                             out.view(), 0.01F);
  };
  Tensor exact(DType::f32, rows), quantised(DType::i8, rows);
  attention(DType::f32, exact);
  for (const DType type : {DType::f32, DType::bf16}) {
    attention(type, quantised);
    expect_quantised(quantised, values_of(exact), 0.01F, type == DType::f32 ? 1e-3 : 5e-2);
  }
}

}  // namespace
}  // namespace podium::test
