#include "worker/ops/rotary_heads.h"

#include <cmath>

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr double kTheta = 100.0;
constexpr std::int64_t kPositions = 12;

struct Case {
  std::int64_t rows, heads, key_value_heads, head_size;
  std::vector<std::int32_t> positions = {};  // empty: sequences of kPositions

  Tensor table() const {
    return tensor_of(ops::rotary_table(kTheta, kPositions, head_size), DType::f32, {kPositions, head_size});
  }
  ops::RotaryHeads rotary(const Tensor& table) const {
    return {heads, key_value_heads, head_size, kPositions, positions, table.view()};
  }
  std::int64_t position(std::int64_t row) const {
    return positions.empty() ? row % kPositions : positions[static_cast<std::size_t>(row)];
  }
  Values input(std::uint64_t stream) const {
    return random_values(rows * (heads + 2 * key_value_heads) * head_size, stream);
  }
};

// Input: x.
OpRun rotary_heads(const Case& c, Context& context, DType type, const std::vector<Values>& inputs,
                   const Values& dy) {
  const Tensor table = c.table();
  const ops::RotaryHeads rotary = c.rotary(table);
  const Tensor x = tensor_of(inputs[0], type, {c.rows, rotary.projected()});
  Tensor y(type, {c.rows, rotary.expanded()});
  ops::rotary_heads_forward(context, rotary, x.view(), y.view());
  if (dy.empty()) return {values_of(y), {}};
  const Tensor gradient = tensor_of(dy, type, {c.rows, rotary.expanded()});
  Tensor dx(type, {c.rows, rotary.projected()});
  ops::rotary_heads_backward(context, rotary, gradient.view(), dx.view());
  return {values_of(y), {values_of(dx)}};
}

const std::vector<Case> kCases{
    {14, 4, 2, 16}, {5, 3, 3, 6}, {4, 6, 1, 32}, {6, 2, 1, 10, {3, 0, 1, 11, 7, 7}}};

TEST(RotaryHeads, PassTheOpChecks) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.head_size);
    check_op(std::bind_front(rotary_heads, c), {c.input(1)});
  }
}

// Column by column in double precision, from the formula in the header.
TEST(RotaryHeads, AreTurnedAndRepeatedByTheFormula) {
  Context context = make_context(2);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.head_size);
    const Values x = c.input(1);
    const std::int64_t d = c.head_size, half = d / 2, group = c.heads / c.key_value_heads;
    Values expected;
    for (std::int64_t row = 0; row < c.rows; ++row)
      for (std::int64_t head = 0; head < 3 * c.heads; ++head) {
        const std::int64_t kind = head / c.heads, among = head % c.heads;  // queries, keys, values
        const std::int64_t from =
            kind == 0 ? among : c.heads + (kind - 1) * c.key_value_heads + among / group;
        const auto at = [&](std::int64_t column) {
          return static_cast<double>(
              x[static_cast<std::size_t>((row * (c.heads + 2 * c.key_value_heads) + from) * d + column)]);
        };
        for (std::int64_t column = 0; column < d; ++column) {
          const auto pair = static_cast<double>(column % half);
          const double angle =
              static_cast<double>(c.position(row)) * std::pow(kTheta, -2 * pair / static_cast<double>(d));
          const double other = column < half ? -at(column + half) : at(column - half);
          expected.push_back(static_cast<float>(
              kind == 2 ? at(column) : at(column) * std::cos(angle) + other * std::sin(angle)));
        }
      }
    expect_close(rotary_heads(c, context, DType::f32, {x}, {}).y, expected, 1e-6, "y");
  }
}

// What attention is after: a product of a query and a key depends on how far apart they stand alone.
TEST(RotaryHeads, ProductsDependOnDistanceAlone) {
  Context context = make_context(2);
  constexpr std::int64_t kSize = 32;
  const Values query = random_values(kSize, 1), key = random_values(kSize, 2);
  const auto product = [&](std::int32_t query_at, std::int32_t key_at) {
    const Case c{2, 1, 1, kSize, {query_at, key_at}};
    Values x;
    for (int row = 0; row < 2; ++row)
      for (const Values* part : {&query, &key, &key}) x.insert(x.end(), part->begin(), part->end());
    const Values y = rotary_heads(c, context, DType::f32, {x}, {}).y;
    double sum = 0;
    for (std::size_t i = 0; i < kSize; ++i) sum += static_cast<double>(y[i]) * y[3 * kSize + kSize + i];
    return sum;
  };
  EXPECT_NEAR(product(0, 0), dot(query, key), 1e-5);
  EXPECT_NEAR(product(5, 2), product(11, 8), 1e-4);
  EXPECT_GT(std::abs(product(5, 2) - product(5, 3)), 1e-2);
}

}  // namespace
}  // namespace podium::test
