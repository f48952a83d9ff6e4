#include "worker/ops/dropout.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

Values dropped_ones(const ops::Dropout& dropout, std::int64_t rows, std::int64_t columns, int threads = 2) {
  Context context = make_context(threads);
  Tensor x = tensor_of(Values(static_cast<std::size_t>(rows * columns), 1.0F), DType::f32, {rows, columns});
  ops::dropout(context, x.view(), dropout, x.view());
  return values_of(x);
}

// Input: x.
OpRun dropout_op(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const ops::Dropout dropout = ops::make_dropout(0.25, philox_key(1, 1), 0, 0);
  Tensor x = tensor_of(inputs[0], type, {3, 50});
  ops::dropout(context, x.view(), dropout, x.view());
  if (dy.empty()) return {values_of(x), {}};
  Tensor gradient = tensor_of(dy, type, {3, 50});
  ops::dropout(context, gradient.view(), dropout, gradient.view());
  return {values_of(x), {values_of(gradient)}};
}

TEST(Dropout, PassesTheOpChecks) { check_op(dropout_op, {random_values(150, 1)}); }

TEST(Dropout, KeepsTheMeanAndDropsTheAskedFraction) {
  const Values y = dropped_ones(ops::make_dropout(0.1, philox_key(3, 4), 0, 0), 1000, 256);
  double sum = 0;
  std::int64_t dropped = 0;
  for (const float v : y) {
    sum += v;
    dropped += v == 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 256000, 0.1, 0.003);  // five standard deviations
  EXPECT_NEAR(sum / 256000, 1.0, 0.0035);
}

TEST(Dropout, ARowsMaskDependsOnItsGlobalNumberAlone) {
  const auto key = philox_key(3, 4);
  const Values whole = dropped_ones(ops::make_dropout(0.5, key, 9, 100), 8, 300);
  const Values half = dropped_ones(ops::make_dropout(0.5, key, 9, 104), 4, 300, 1);
  EXPECT_EQ(half, Values(whole.begin() + 4 * 300, whole.end()));
}

TEST(Dropout, RowsMayBeNumberedOneByOne) {
  ops::Dropout dropout = ops::make_dropout(0.5, philox_key(3, 4), 9, 100);
  const Values whole = dropped_ones(dropout, 8, 300);
  const std::vector<std::int64_t> numbers = {107, 101};
  dropout.rows = numbers;
  const Values picked = dropped_ones(dropout, 2, 300);
  EXPECT_EQ(Values(picked.begin(), picked.begin() + 300), Values(whole.begin() + 7 * 300, whole.end()));
  EXPECT_EQ(Values(picked.begin() + 300, picked.end()), Values(whole.begin() + 300, whole.begin() + 600));
}

// Inputs: branch, residual.
OpRun add_dropout(double probability, Context& context, DType type, const std::vector<Values>& inputs,
                  const Values& dy) {
  const ops::Dropout dropout = ops::make_dropout(probability, philox_key(1, 1), 0, 0);
  Tensor y = tensor_of(inputs[0], type, {3, 150});
  const Tensor residual = tensor_of(inputs[1], type, {3, 150});
  ops::add_dropout(context, y.view(), residual.view(), dropout);
  if (dy.empty()) return {values_of(y), {}};
  const Tensor gradient = tensor_of(dy, type, {3, 150});
  Tensor dbranch(type, {3, 150});
  ops::dropout(context, gradient.view(), dropout, dbranch.view());
  return {values_of(y), {values_of(dbranch), values_of(gradient)}};
}

TEST(AddDropout, PassesTheOpChecksWithAndWithoutDropout) {
  for (const double probability : {0.0, 0.3}) {
    SCOPED_TRACE(probability);
    check_op(std::bind_front(add_dropout, probability), {random_values(450, 1), random_values(450, 2)});
  }
}

TEST(Dropout, SeedStepSiteAndRowAllChangeTheMask) {
  const auto mask = [](std::uint64_t seed, std::uint64_t step, std::uint32_t site, std::uint64_t row) {
    return dropped_ones(ops::make_dropout(0.5, philox_key(seed, step), site, row), 1, 256);
  };
  const Values base = mask(1, 1, 1, 1);
  EXPECT_NE(base, mask(2, 1, 1, 1));
  EXPECT_NE(base, mask(1, 2, 1, 1));
  EXPECT_NE(base, mask(1, 1, 2, 1));
  EXPECT_NE(base, mask(1, 1, 1, 2));
  EXPECT_EQ(base, mask(1, 1, 1, 1));
}

// The documented layout of draws, word by word from the scalar generator.
TEST(Dropout, DrawsAreThoseOfPhilox) {
  const auto key = philox_key(11, 12);
  const ops::Dropout dropout = ops::make_dropout(0.5, key, 6, (std::uint64_t{5} << 32) + 77);
  const Values y = dropped_ones(dropout, 1, 256);
  for (std::uint32_t column = 0; column < 256; ++column) {
    const std::uint32_t block = column / 128, d = column % 128;
    const PhiloxCounter words = philox(key, {block * 16 + d % 16, 77, 5, 6});
    const std::uint32_t draw = words[d / 32] >> (d / 16 % 2 * 16) & 0xffffU;
    EXPECT_EQ(y[column] != 0, draw >= 32768U) << column;
  }
}

}  // namespace
}  // namespace podium::test
