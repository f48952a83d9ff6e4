// Products of few rows against double precision, and the promise that rows do not depend on each other.
#include "worker/ops/cpu/few_rows.h"

#include "tests/worker/ops/op_check.h"
#include "worker/ops/inference_linear.h"

namespace podium::test {
namespace {

Values few_rows(const Values& x, const Values& w, std::int64_t rows, std::int64_t out, std::int64_t in,
                DType type, int threads) {
  Context context = make_context(threads);
  const Tensor left = tensor_of(x, type, {rows, in}), weight = tensor_of(w, type, {out, in});
  Tensor sums(DType::f32, {rows, out});
  std::vector<int> finished(static_cast<std::size_t>(out), 0);
  ops::cpu::multiply_few_rows(context, left.view(), weight.view(), sums.view(), [&](ops::cpu::Range outputs) {
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o) ++finished[static_cast<std::size_t>(o)];
  });
  EXPECT_EQ(finished, std::vector<int>(static_cast<std::size_t>(out), 1));
  return values_of(sums);
}

TEST(FewRows, AreProducts) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    for (const auto& [rows, out, in] :
         {std::tuple{1, 1, 1}, {1, 9, 33}, {3, 6, 16}, {4, 8, 64}, {7, 5, 100}, {64, 13, 47}}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << out << " x " << in);
      const Values x = random_values(rows * in, 1), w = random_values(out * in, 2);
      Values expected;
      for (int row = 0; row < rows; ++row)
        for (int o = 0; o < out; ++o) {
          double sum = 0;
          for (int i = 0; i < in; ++i)
            sum += static_cast<double>(x[static_cast<std::size_t>(row * in + i)]) *
                   w[static_cast<std::size_t>(o * in + i)];
          expected.push_back(static_cast<float>(sum));
        }
      expect_close(few_rows(x, w, rows, out, in, type, 2), expected, 1e-6, "sums");
    }
}

TEST(FewRows, DoNotDependOnEachOtherNorOnThreads) {
  constexpr std::int64_t kRowCount = 11, kOut = 14, kIn = 70;
  const Values x = random_values(kRowCount * kIn, 3, 1.7), w = random_values(kOut * kIn, 4);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Values together = few_rows(x, w, kRowCount, kOut, kIn, type, 2);
    for (std::int64_t row = 0; row < kRowCount; ++row) {
      const Values own(x.begin() + row * kIn, x.begin() + (row + 1) * kIn);
      const Values alone = few_rows(own, w, 1, kOut, kIn, type, 3);
      EXPECT_EQ(alone, Values(together.begin() + row * kOut, together.begin() + (row + 1) * kOut));
    }
  }
}

// At the extents of GPT-2 small's feed-forward.
TEST(FewRows, OfLargeProductsDoNotDependOnThreads) {
  constexpr std::int64_t kRowCount = 5, kOut = 768, kIn = 3072;
  const Values x = random_values(kRowCount * kIn, 7), w = random_values(kOut * kIn, 8);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Values one = few_rows(x, w, kRowCount, kOut, kIn, type, 1);
    for (const int threads : {2, 8}) EXPECT_EQ(few_rows(x, w, kRowCount, kOut, kIn, type, threads), one);
  }
}

// Subnormal numbers, infinity and what is none, in weights of 16 bits.
TEST(FewRows, TakeEveryHalf) {
  constexpr std::int64_t kOut = 1 << 16, kIn = 16;
  Context context = make_context(2);
  Tensor weight(DType::f16, {kOut, kIn}), x(DType::f16, {1, kIn}), sums(DType::f32, {1, kOut});
  for (std::int64_t i = 0; i < kOut * kIn; ++i)
    weight.view().data<Float16>()[i] = {static_cast<std::uint16_t>(i % kIn == 3 ? i / kIn : 0)};
  for (int i = 0; i < kIn; ++i) x.view().data<Float16>()[i] = to_float16(i == 3 ? 1.0F : 0.0F);
  ops::cpu::multiply_few_rows(context, x.view(), weight.view(), sums.view(), [](ops::cpu::Range) {});
  const Values found = values_of(sums);
  for (std::int64_t bits = 0; bits < kOut; ++bits) {
    const float expected = to_float(Float16{static_cast<std::uint16_t>(bits)});
    const float sum = found[static_cast<std::size_t>(bits)];
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(sum) : sum == expected) << bits;
  }
}

// What is made for many rows goes where few products have them.
TEST(FewRows, APackedWeightIsKeptWhereItShallBe) {
  constexpr std::int64_t kRowCount = 70, kOut = 24, kIn = 40;
  const Values w = random_values(kOut * kIn, 5), values = random_values(kRowCount * kIn, 6);
  std::vector<Values> found;
  for (const bool keeps : {true, false}) {
    Context context = make_context(2);
    const Tensor x = tensor_of(values, DType::f32, {kRowCount, kIn}),
                 matrix = tensor_of(w, DType::f32, {kOut, kIn});
    ops::InferenceWeight weight{.values = matrix.view(), .keeps_packed = keeps};
    for (int time = 0; time < 2; ++time) {
      Tensor y(DType::f32, {kRowCount, kOut});
      ops::inference_linear(context, x.view(), weight, {}, y.view());
      EXPECT_EQ(weight.packed != nullptr, keeps);
      found.push_back(values_of(y));
      EXPECT_EQ(found.back(), found.front());
    }
  }
}

// The whole op goes this way where rows are few, and the other where they are many.
TEST(FewRows, AreWhatInferenceTakesThem) {
  constexpr std::int64_t kOut = 24, kIn = 40;
  const Values w = random_values(kOut * kIn, 5);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    Values many;
    for (const std::int64_t rows : {ops::cpu::kMostFewRows, ops::cpu::kMostFewRows + 1}) {
      Context context = make_context(2);
      const Tensor x = tensor_of(random_values((ops::cpu::kMostFewRows + 1) * kIn, 6), type,
                                 {ops::cpu::kMostFewRows + 1, kIn});
      ConstTensorView first = x.view();
      first.shape = Shape{rows, kIn};
      const Tensor values = tensor_of(w, type, {kOut, kIn});
      ops::InferenceWeight weight{.values = values.view()};
      Tensor y(DType::f32, {rows, kOut});
      ops::inference_linear(context, first, weight, {}, y.view());
      EXPECT_EQ(weight.packed == nullptr, rows == ops::cpu::kMostFewRows);
      Values found = values_of(y);
      if (!many.empty()) {
        found.resize(many.size());
        expect_close(found, many, 1e-5, "y");
      }
      many = found;
    }
  }
}

}  // namespace
}  // namespace podium::test
