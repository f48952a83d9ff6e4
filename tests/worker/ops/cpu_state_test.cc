// What the CPU back end keeps of compiled products under batches of ever other shapes.
#include <gtest/gtest.h>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/attention.h"
#include "worker/ops/cpu/state.h"
#include "worker/ops/linear.h"

namespace podium::test {
namespace {

using ops::cpu::CpuState;

Values forward(Context& context, ops::LinearWeight& weight, const Values& x, std::int64_t rows) {
  const std::int64_t out = weight.master.shape[0], in = weight.master.shape[1];
  const Tensor input = tensor_of(x, DType::f32, {rows, in});
  Tensor y(DType::f32, {rows, out});
  ops::linear_forward(context, input.view(), weight, {}, y.view());
  return values_of(y);
}

TEST(CpuState, KeepsABoundedNumberOfProductsWithTheSameResults) {
  constexpr std::int64_t kOut = 6, kIn = 5;
  constexpr std::int64_t kShapes = static_cast<std::int64_t>(CpuState::kMostProducts) + 30;
  const Values w = random_values(kOut * kIn, 1), x = random_values(kShapes * kIn, 2);
  const Tensor master = tensor_of(w, DType::f32, {kOut, kIn});
  ops::LinearWeight weight{.master = master.view(), .generation = 1};
  Context context{.threads = 2};
  for (int round = 0; round < 2; ++round)
    for (std::int64_t rows = 1; rows <= kShapes; ++rows) {
      const Values y = forward(context, weight, {x.begin(), x.begin() + rows * kIn}, rows);
      for (std::int64_t i = 0; i < rows * kOut; ++i) {
        double expected = 0;
        for (std::int64_t k = 0; k < kIn; ++k)
          expected += static_cast<double>(x[static_cast<std::size_t>(i / kOut * kIn + k)]) *
                      w[static_cast<std::size_t>(i % kOut * kIn + k)];
        ASSERT_NEAR(y[static_cast<std::size_t>(i)], expected, 1e-5) << rows << " rows, round " << round;
      }
      ASSERT_LE(ops::cpu::cpu_state(context).products(), CpuState::kMostProducts);
    }
}

// Sequences of so many lengths that attention holds more products at once than are kept after it.
TEST(CpuState, AnOpMayHoldMoreProductsThanAreKept) {
  constexpr std::int64_t kSequences = 96, kLongest = 16 * kSequences, kHead = 4;
  std::vector<std::int32_t> begins{0};
  for (std::int32_t s = 1; s <= kSequences; ++s) begins.push_back(begins.back() + 16 * s);
  const std::int64_t rows = begins.back();
  const Values values = random_values(rows * 3 * kHead, 3);
  const auto attention = [&](Context& context, std::size_t first, std::size_t count) {
    const std::int32_t from = begins[first];
    std::vector<std::int32_t> own;
    for (std::size_t s = first; s <= first + count; ++s) own.push_back(begins[s] - from);
    const ops::AttentionShape shape{.sequences = static_cast<std::int64_t>(count),
                                    .length = kLongest,
                                    .heads = 1,
                                    .head_size = kHead,
                                    .row_begins = own,
                                    .packed_rows = own.back()};
    const Values part(values.begin() + from * 3 * kHead, values.begin() + begins[first + count] * 3 * kHead);
    const Tensor qkv = tensor_of(part, DType::f32, {own.back(), 3 * kHead});
    Tensor out(DType::f32, {own.back(), kHead});
    ops::attention_forward(context, shape, qkv.view(), {}, {}, {}, out.view());
    return values_of(out);
  };
  Context context{.threads = 2};
  const Values together = attention(context, 0, kSequences);
  EXPECT_EQ(ops::cpu::cpu_state(context).products(), CpuState::kMostProducts) << "there were no more";
  EXPECT_EQ(attention(context, 0, kSequences), together);
  Values alone;
  for (std::size_t s = 0; s < kSequences; ++s) {
    const Values one = attention(context, s, 1);
    alone.insert(alone.end(), one.begin(), one.end());
  }
  EXPECT_EQ(alone, together);
}

}  // namespace
}  // namespace podium::test
