#include "worker/ops/inference_layer_norm.h"

#include "tests/worker/ops/quantised_values.h"

namespace podium::test {
namespace {

constexpr float kEpsilon = 1e-12F;

struct LayerNormCase {
  explicit LayerNormCase(DType type, std::int64_t rows_in = 5, std::int64_t columns_in = 104)
      : rows(rows_in),
        columns(columns_in),
        values(random_values(rows * columns, 1)),
        x(tensor_of(values, type, {rows, columns})),
        gamma(tensor_of(random_values(columns, 2), DType::f32, {columns})),
        beta(tensor_of(random_values(columns, 3), DType::f32, {columns})),
        y(type, {rows, columns}) {}

  ops::LayerNormParameters parameters() const { return {gamma.view(), beta.view(), kEpsilon}; }
  Values expected() const {
    Values result;
    const auto n = static_cast<std::size_t>(columns);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      const float* const from = values.data() + row * n;
      double mean = 0, variance = 0;
      for (std::size_t j = 0; j < n; ++j) mean += from[j] / static_cast<double>(n);
      for (std::size_t j = 0; j < n; ++j) variance += std::pow(from[j] - mean, 2) / static_cast<double>(n);
      for (std::size_t j = 0; j < n; ++j)
        result.push_back(static_cast<float>(
            (from[j] - mean) / std::sqrt(variance + kEpsilon) * value_at(gamma, j) + value_at(beta, j)));
    }
    return result;
  }

  std::int64_t rows, columns;
  Values values;
  Tensor x, gamma, beta, y;
};

TEST(InferenceLayerNorm, NormalisesRowsOfEveryTypeAndWidth) {
  Context context = make_context(2);
  for (const auto& [type, tolerance] :
       {std::pair(DType::f32, 1e-5), std::pair(DType::bf16, 4e-3), std::pair(DType::f16, 5e-4)}) {
    for (const std::int64_t columns : {8, 100, 104, 768, 1024}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " " << columns);
      LayerNormCase c(type, 3, columns);
      ops::inference_layer_norm(context, c.x.view(), c.parameters(), c.y.view());
      expect_close(values_of(c.y), c.expected(), tolerance, "y");
      ops::inference_layer_norm(context, c.x.view(), c.parameters(), c.x.view());
      EXPECT_EQ(values_of(c.x), values_of(c.y)) << "in place";
    }
  }
}

TEST(InferenceLayerNorm, LeavesAQuantisedCopyOfWhatItStores) {
  Context context = make_context(2);
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const DType quantised : {DType::i8, DType::e4m3}) {
      for (const std::int64_t columns : {100, 104}) {
        SCOPED_TRACE(testing::Message() << to_string(type) << " " << to_string(quantised));
        LayerNormCase c(type, 4, columns);
        Tensor copy(quantised, {c.rows, c.columns});
        const float scale = quantised == DType::i8 ? 0.02F : 0.005F;  // some are beyond the largest
        ops::inference_layer_norm(context, c.x.view(), c.parameters(), c.y.view(), {copy.view(), scale});
        expect_quantised(copy, values_of(c.y), scale, 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace podium::test
