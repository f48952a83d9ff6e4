#include "worker/ops/linear.h"

#include "tests/worker/ops/gelu_values.h"
#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

constexpr std::int64_t kRows = 6, kIn = 5, kOut = 7;

// Inputs: x, weight, bias.
OpRun linear(Context& context, DType type, const std::vector<Values>& inputs, const Values& dy) {
  const Tensor x = tensor_of(inputs[0], type, {kRows, kIn}),
               w = tensor_of(inputs[1], DType::f32, {kOut, kIn});
  const Tensor b = tensor_of(inputs[2], DType::f32, {kOut});
  Tensor y(type, {kRows, kOut});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  ops::linear_forward(context, x.view(), weight, b.view(), y.view());
  if (dy.empty()) return {values_of(y), {}};

  const Tensor gradient = tensor_of(dy, type, {kRows, kOut});
  Tensor dx(type, {kRows, kIn}), dw(DType::f32, {kOut, kIn}), db(DType::f32, {kOut});
  ops::linear_backward_input(context, gradient.view(), weight, dx.view());
  ops::linear_backward_weight(context, x.view(), gradient.view(), dw.view(), db.view());
  return {values_of(y), {values_of(dx), values_of(dw), values_of(db)}};
}

std::vector<Values> linear_inputs() {
  return {random_values(kRows * kIn, 1), random_values(kOut * kIn, 2), random_values(kOut, 3)};
}

TEST(Linear, PassesTheOpChecks) { check_op(linear, linear_inputs()); }

TEST(Linear, AddsToWeightGradients) {
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(kRows * kIn, 1), DType::f32, {kRows, kIn});
  const Tensor dy = tensor_of(random_values(kRows * kOut, 2), DType::f32, {kRows, kOut});
  Tensor dw(DType::f32, {kOut, kIn}), db(DType::f32, {kOut});
  ops::linear_backward_weight(context, x.view(), dy.view(), dw.view(), db.view());
  Values once_w = values_of(dw), once_b = values_of(db);
  ops::linear_backward_weight(context, x.view(), dy.view(), dw.view(), db.view());
  for (float& v : once_w) v *= 2;
  for (float& v : once_b) v *= 2;
  expect_close(values_of(dw), once_w, 1e-6, "dw");
  expect_close(values_of(db), once_b, 1e-6, "db");
}

TEST(Linear, BackwardInputAccumulatesOrMultiplies) {
  Context context = make_context(2);
  const Tensor dy = tensor_of(random_values(kRows * kOut, 2), DType::f32, {kRows, kOut});
  const Tensor w = tensor_of(random_values(kOut * kIn, 3), DType::f32, {kOut, kIn});
  const Values before = random_values(kRows * kIn, 4);
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  Tensor plain(DType::f32, {kRows, kIn});
  Tensor summed = tensor_of(before, DType::f32, {kRows, kIn}), multiplied(DType::f32, {kRows, kIn});
  Tensor gelu = tensor_of(before, DType::f32, {kRows, kIn});
  ops::linear_backward_input(context, dy.view(), weight, plain.view());
  ops::linear_backward_input(context, dy.view(), weight, summed.view(), {.accumulate = true});
  ops::linear_backward_input(context, dy.view(), weight, multiplied.view(),
                             {.gelu = saved_gelu(context, gelu, ops::GeluKind::erf)});
  Values sum = values_of(plain), product = values_of(plain);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += before[i];
    product[i] *= static_cast<float>(gelu_slope(ops::GeluKind::erf, before[i]));
  }
  expect_close(values_of(summed), sum, 1e-6, "sum");
  expect_close(values_of(multiplied), product, 1e-6, "product");
}

TEST(Linear, BackwardInputAddsTheColumnSumsOfWhatItLeaves) {
  Context context = make_context(2);
  const Tensor dy = tensor_of(random_values(kRows * kOut, 2), DType::f32, {kRows, kOut});
  const Tensor w = tensor_of(random_values(kOut * kIn, 3), DType::f32, {kOut, kIn});
  Tensor gelu = tensor_of(random_values(kRows * kIn, 4), DType::f32, {kRows, kIn});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  Tensor dx(DType::f32, {kRows, kIn}), sums(DType::f32, {kIn});
  Values expected(kIn, 0.0F);
  const auto add = [&](const ops::ProductOptions& options) {
    ops::linear_backward_input(context, dy.view(), weight, dx.view(), options);
    for (std::size_t i = 0; i < kRows * kIn; ++i) expected[i % kIn] += value_at(dx, i);
  };
  add({.column_sums = sums.view()});
  add({.gelu = saved_gelu(context, gelu, ops::GeluKind::erf), .column_sums = sums.view()});
  expect_close(values_of(sums), expected, 1e-5, "column sums");
}

// y, and dx of the layer behind, of the two ops in one and of one after the other.
void expect_gelu_like_apart(ops::GeluKind kind, DType type, std::int64_t out, double tolerance) {
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(kRows * kIn, 1), type, {kRows, kIn});
  const Tensor w = tensor_of(random_values(out * kIn, 2), DType::f32, {out, kIn});
  const Tensor b = tensor_of(random_values(out, 3), DType::f32, {out});
  const Tensor next_w = tensor_of(random_values(kOut * out, 4), DType::f32, {kOut, out});
  const Tensor dy = tensor_of(random_values(kRows * kOut, 5), type, {kRows, kOut});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  ops::LinearWeight next{.master = next_w.view(), .generation = 1, .packed = nullptr};
  Tensor apart(type, {kRows, out}), y(type, {kRows, out}), dx(type, {kRows, out});
  Tensor saved(type, {kRows, out}), y_at_once(type, {kRows, out}), dx_at_once(type, {kRows, out});
  Tensor sums(DType::f32, {out}), sums_at_once(DType::f32, {out});

  ops::linear_forward(context, x.view(), weight, b.view(), apart.view());
  ops::gelu_forward(context, apart.view(), y.view(), kind);
  ops::linear_backward_input(context, dy.view(), next, dx.view(),
                             {.gelu = {apart.view(), kind}, .column_sums = sums.view()});

  ops::linear_gelu_forward(context, x.view(), weight, b.view(), kind, saved.view(), y_at_once.view());
  ops::linear_backward_input(context, dy.view(), next, dx_at_once.view(),
                             {.gelu = {saved.view(), kind}, .column_sums = sums_at_once.view()});
  expect_close(values_of(y_at_once), values_of(y), tolerance, "y");
  expect_close(values_of(dx_at_once), values_of(dx), tolerance, "dx");
  expect_close(values_of(sums_at_once), values_of(sums), tolerance, "column sums");
}

TEST(Linear, TakesTheGeluBehindItAlong) {
  for (const ops::GeluKind kind : {ops::GeluKind::erf, ops::GeluKind::tanh}) {
    for (const std::int64_t out : {16, 13}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + ", columns " + std::to_string(out));
      expect_gelu_like_apart(kind, DType::f32, out, 1e-6);
      expect_gelu_like_apart(kind, DType::bf16, out, 1.5e-2);
      expect_gelu_like_apart(kind, DType::f16, out, 2e-3);
    }
  }
}

TEST(Linear, SeesANewMasterOnlyUnderANewGeneration) {
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(kRows * kIn, 1), DType::f32, {kRows, kIn});
  Tensor w = tensor_of(random_values(kOut * kIn, 3), DType::f32, {kOut, kIn});
  Tensor first(DType::f32, {kRows, kOut}), second(DType::f32, {kRows, kOut});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  ops::linear_forward(context, x.view(), weight, {}, first.view());
  for (float& v : w.view().values<float>()) v *= 3;
  weight.generation = 2;
  ops::linear_forward(context, x.view(), weight, {}, second.view());
  Values tripled = values_of(first);
  for (float& v : tripled) v *= 3;
  expect_close(values_of(second), tripled, 1e-6, "y");
}

TEST(Linear, KeepsTheCopyOfAWeightThatIsReadOften) {
  Context context = make_context(2);
  const Tensor x = tensor_of(random_values(kRows * kIn, 1), DType::bf16, {kRows, kIn});
  Tensor w = tensor_of(random_values(kOut * kIn, 3), DType::f32, {kOut, kIn});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  const auto result = [&] {
    Tensor y(DType::bf16, {kRows, kOut});
    ops::linear_forward(context, x.view(), weight, {}, y.view());
    return values_of(y);
  };
  const Values once = result();
  EXPECT_EQ(result(), once);
  for (float& v : w.view().values<float>()) v *= 2;
  EXPECT_EQ(result(), once) << "without a new generation the kept copy counts";
  weight.generation = 2;
  Values doubled = once;
  for (float& v : doubled) v *= 2;
  EXPECT_EQ(result(), doubled);
  EXPECT_EQ(result(), doubled);
}

}  // namespace
}  // namespace podium::test
