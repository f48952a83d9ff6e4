// Embeddings, row picking and tanh: the ops that mostly move rows about.
#include "worker/ops/rows.h"

#include <algorithm>
#include <numeric>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/embedding.h"
#include "worker/ops/tanh.h"
#include "worker/ops/token_order.h"

namespace podium::test {
namespace {

constexpr std::int64_t kHidden = 40;
const std::vector<std::int32_t> kIds = {3, 1, 3, 0, 3, 2}, kTypes = {0, 0, 1, 1, 0, 1};

// Inputs: word table [4, hidden], positions [3, hidden], types [2, hidden].
OpRun embedding(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const Tensor word = tensor_of(inputs[0], DType::f32, {4, kHidden});
  const Tensor position = tensor_of(inputs[1], DType::f32, {3, kHidden});
  const Tensor kind = tensor_of(inputs[2], DType::f32, {2, kHidden});
  const std::vector<std::int32_t> order = ops::token_order(kIds);
  const ops::EmbeddingInput input{.ids = kIds, .types = kTypes, .length = 3, .id_order = order};
  Tensor y(type, {6, kHidden});
  ops::embedding_forward(context, input, {word.view(), position.view(), kind.view()}, y.view());
  if (dy.empty()) return {values_of(y), {}};
  const Tensor gradient = tensor_of(dy, type, {6, kHidden});
  Tensor dword(DType::f32, {4, kHidden}), dposition(DType::f32, {3, kHidden}),
      dkind(DType::f32, {2, kHidden});
  ops::embedding_backward(context, input, gradient.view(), {dword.view(), dposition.view(), dkind.view()});
  return {values_of(y), {values_of(dword), values_of(dposition), values_of(dkind)}};
}

TEST(Embedding, PassesTheOpChecks) {
  check_op(embedding,
           {random_values(4 * kHidden, 1), random_values(3 * kHidden, 2), random_values(2 * kHidden, 3)});
}

// Two halves of the vocabulary, the first with the positions, add up to the whole. Inputs: word table,
// positions.
OpRun split_embedding(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const std::vector<std::int32_t> positions = {0, 1, 2, 2, 1, 1};
  const std::vector<std::int32_t> id_order = ops::token_order(kIds),
                                  position_order = ops::token_order(positions);
  const Tensor position = tensor_of(inputs[1], DType::f32, {3, kHidden});
  Tensor dposition(DType::f32, {3, kHidden});
  Values sum(6 * kHidden, 0.0F), dword;
  for (const std::int64_t first : {0, 2}) {
    const auto begin = inputs[0].begin() + first * kHidden;
    const Tensor word = tensor_of(Values(begin, begin + 2 * kHidden), DType::f32, {2, kHidden});
    Tensor dhalf(DType::f32, {2, kHidden}), y(type, {6, kHidden});
    const ops::EmbeddingInput input{.ids = kIds,
                                    .types = {},
                                    .positions = positions,
                                    .first_id = first,
                                    .vocabulary = 4,
                                    .id_order = id_order,
                                    .position_order = position_order};
    const ConstTensorView here = first == 0 ? position.view() : ConstTensorView{};
    ops::embedding_forward(context, input, {word.view(), here}, y.view());
    const Values part = values_of(y);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    if (dy.empty()) continue;
    const Tensor gradient = tensor_of(dy, type, {6, kHidden});
    ops::embedding_backward(context, input, gradient.view(),
                            {dhalf.view(), first == 0 ? dposition.view() : TensorView{}});
    const Values half = values_of(dhalf);
    dword.insert(dword.end(), half.begin(), half.end());
  }
  return {sum, {dword, values_of(dposition)}};
}

TEST(Embedding, OfASplitVocabularyPassesTheOpChecks) {
  check_op(split_embedding, {random_values(4 * kHidden, 1), random_values(3 * kHidden, 2)});
}

TEST(TokenOrder, SortsByValueThenByToken) {
  EXPECT_EQ(ops::token_order({}), std::vector<std::int32_t>());
  EXPECT_EQ(ops::token_order(kIds), (std::vector<std::int32_t>{3, 1, 5, 0, 2, 4}));
  Random random(1, 2);
  for (const std::uint32_t bound : {1U, 2U, 600U, 1U << 31}) {
    std::vector<std::int32_t> values(3000), expected(values.size());
    for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.below(bound)) - 5;
    std::iota(expected.begin(), expected.end(), 0);
    std::ranges::stable_sort(expected, {},
                             [&](std::int32_t t) { return values[static_cast<std::size_t>(t)]; });
    EXPECT_EQ(ops::token_order(values), expected) << bound;
  }
}

// Rows of one token and of many, which are added up in parts; the sums are those that one thread adds up.
TEST(Embedding, BackwardAddsManyTokensOfARow) {
  Context context = make_context(2);
  constexpr std::int64_t kTokens = 5 * 77, kRows = 40;
  std::vector<std::int32_t> ids, positions;
  Random random(4, 2);
  for (std::int64_t t = 0; t < kTokens; ++t) {
    ids.push_back(t % 3 == 0 ? 7 : static_cast<std::int32_t>(random.below(kRows)));
    positions.push_back(t < 256 ? 0
                                : static_cast<std::int32_t>(t % 4));  // a part begins and ends with the row
  }
  const Values dy = random_values(kTokens * kHidden, 9);
  const Tensor gradient = tensor_of(dy, DType::f32, {kTokens, kHidden});
  const std::vector<std::int32_t> id_order = ops::token_order(ids),
                                  position_order = ops::token_order(positions);
  for (const bool given : {true, false}) {
    Values dword = random_values(kRows * kHidden, 10), dposition(77 * kHidden, 0.0F);
    Tensor word = tensor_of(dword, DType::f32, {kRows, kHidden}),
           position = tensor_of(dposition, DType::f32, {77, kHidden});
    ops::EmbeddingInput input{.ids = ids, .types = {}, .length = 77, .id_order = id_order};
    if (given) input.positions = positions, input.position_order = position_order;
    ops::embedding_backward(context, input, gradient.view(), {word.view(), position.view()});
    for (std::size_t t = 0; t < kTokens; ++t) {
      for (std::size_t j = 0; j < kHidden; ++j) {
        dword[static_cast<std::size_t>(ids[t]) * kHidden + j] += dy[t * kHidden + j];
        dposition[(given ? static_cast<std::size_t>(positions[t]) : t % 77) * kHidden + j] +=
            dy[t * kHidden + j];
      }
    }
    expect_close(values_of(word), dword, 1e-6, "dword");
    expect_close(values_of(position), dposition, 1e-6, "dposition");
  }
}

const std::vector<std::int32_t> kPicked = {4, 0, 2};

// Input: x [5, hidden]; y has one row more than are picked.
OpRun pick(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const Tensor x = tensor_of(inputs[0], type, {5, kHidden});
  Tensor y = tensor_of(random_values(4 * kHidden, 8), type, {4, kHidden});
  ops::gather_rows(context, x.view(), kPicked, y.view());
  if (dy.empty()) return {values_of(y), {}};
  const Tensor gradient = tensor_of(dy, type, {4, kHidden});
  Tensor dx(type, {5, kHidden});
  ops::scatter_add_rows(context, gradient.view(), kPicked, dx.view());
  return {values_of(y), {values_of(dx)}};
}

TEST(Rows, PassTheOpChecks) { check_op(pick, {random_values(5 * kHidden, 1)}); }

TEST(Rows, BeyondThosePickedAreZero) {
  Context context = make_context(2);
  const Values y = pick(context, DType::f32, {random_values(5 * kHidden, 1)}, {}).y;
  for (std::size_t j = 3 * kHidden; j < y.size(); ++j) EXPECT_EQ(y[j], 0);
}

TEST(Rows, WithoutANumberAreZeroOneWayAndSkippedTheOther) {
  Context context = make_context(2);
  const std::vector<std::int32_t> rows = {1, -1};
  const Tensor x = tensor_of(random_values(2 * kHidden, 1), DType::f32, {2, kHidden});
  Tensor y = tensor_of(random_values(2 * kHidden, 2), DType::f32, {2, kHidden});
  Tensor dx = tensor_of(values_of(x), DType::f32, {2, kHidden});
  ops::scatter_add_rows(context, y.view(), rows, dx.view());
  const Values before = values_of(x), dy = values_of(y), after = values_of(dx);
  ops::gather_rows(context, x.view(), rows, y.view());
  for (std::size_t j = 0; j < kHidden; ++j) {
    EXPECT_EQ(after[j], before[j]);
    EXPECT_EQ(after[kHidden + j], before[kHidden + j] + dy[j]);
    EXPECT_EQ(values_of(y)[j], before[kHidden + j]);
    EXPECT_EQ(values_of(y)[kHidden + j], 0);
  }
}

// Input: x.
OpRun tanh_op(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  Tensor y = tensor_of(inputs[0], type, {2, 35});
  ops::tanh_forward(context, y.view());
  if (dy.empty()) return {values_of(y), {}};
  Tensor gradient = tensor_of(dy, type, {2, 35});
  ops::tanh_backward(context, y.view(), gradient.view());
  return {values_of(y), {values_of(gradient)}};
}

TEST(Tanh, PassesTheOpChecks) { check_op(tanh_op, {random_values(70, 4)}); }

}  // namespace
}  // namespace podium::test
