// Every way in which CUDA computes an inference product, against the CPU back end.
#include <tuple>

#include "tests/worker/ops/inference_product.h"

namespace podium::test {
namespace {

constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::i8, DType::e4m3};

// Inputs of five slabs and a part, so that stages are used again and splits are of unequal length.
std::int64_t inputs_for(DType type, bool is_sparse) {
  return (5 * 128 + 32) / static_cast<std::int64_t>(size_of(type)) * (is_sparse ? 2 : 1);
}

class CudaInference : public testing::TestWithParam<std::tuple<DType, bool>> {
 protected:
  void SetUp() override {
    if (type() == DType::e4m3 && !device_has_e4m3()) GTEST_SKIP() << "skipped: the device has no e4m3";
  }
  DType type() const { return std::get<0>(GetParam()); }
  bool is_sparse() const { return std::get<1>(GetParam()); }
  std::int64_t in() const { return inputs_for(type(), is_sparse()); }
  DType wide_y() const { return type() == DType::bf16 ? DType::bf16 : DType::f16; }
};

TEST_P(CudaInference, MultipliesRowsAndOutputsThatFillNoTile) {
  for (const std::int64_t rows : {1, 7, 130})
    check_every_way({rows, 72, in(), type(), wide_y(), is_sparse(), Activation::none, true});
  check_every_way({17, 129, in(), type(), wide_y(), is_sparse(), Activation::none, true});  // scalar access
}

TEST_P(CudaInference, MultipliesManySlabs) {
  check_ways({40, 40, 4 * in(), type(), DType::f32, is_sparse(), Activation::none, false},
             [](const InferenceWay& way) { return way.plan.splits == 4; });
}

TEST_P(CudaInference, FinishesInEveryType) {
  const auto wanted = [](const InferenceWay& way) {
    return way.library || way.plan == ops::cuda::TilePlan{0, 1};
  };
  for (const Activation activation : {Activation::none, Activation::gelu, Activation::gelu_tanh})
    for (const DType y_type : {DType::f32, DType::bf16, DType::f16, DType::i8, DType::e4m3})
      for (const bool has_residual : {false, true})
        if (!has_residual || !ops::is_quantised(y_type))
          check_ways({19, 80, in() / 2 / 32 * 32, type(), y_type, is_sparse(), activation, has_residual},
                     wanted);
}

INSTANTIATE_TEST_SUITE_P(Types, CudaInference, testing::Combine(testing::ValuesIn(kTypes), testing::Bool()),
                         name_of);

// A context that may choose by time keeps to its choice, and computes the same.
TEST(CudaInferenceWays, AreTimedWhereTheContextMayDiffer) {
  Context context = make_context(1);
  context.deterministic = false;
  const Tensor x = tensor_of(random_values(20 * 256, 1), DType::f16, {20, 256});
  const Tensor w = tensor_of(random_values(64 * 256, 2), DType::f16, {64, 256});
  Tensor y(DType::f16, {20, 64}), expected(DType::f16, {20, 64});
  const Values residual = random_values(20 * 64, 3);
  for (int i = 0; i < 2; ++i) {
    y = tensor_of(residual, DType::f16, {20, 64});
    ops::InferenceWeight weight{.values = w.view()};
    ops::inference_linear(context, x.view(), weight, {.residual = y.view()}, y.view());
    Context cpu{.threads = 2};
    const Tensor apart = tensor_of(residual, DType::f16, {20, 64});
    ops::InferenceWeight on_cpu{.values = w.view()};
    ops::inference_linear(cpu, x.view(), on_cpu, {.residual = apart.view()}, expected.view());
    expect_close(values_of(y), values_of(expected), 5e-4, "y");
  }
}

TEST(CudaInferenceWays, AreNoneForShortRowsThatAreNotAligned) {
  Context context = make_context(1);
  const Tensor x = quantised_tensor_of(random_quantised(DType::i8, 2 * 24, 1), DType::i8, {2, 24});
  const Tensor w = quantised_tensor_of(random_quantised(DType::i8, 8 * 24, 2), DType::i8, {8, 24});
  const Tensor scales = tensor_of(Values(8, 1.0F), DType::f32, {8});
  Tensor y(DType::f32, {2, 8});
  ops::InferenceWeight weight{.values = w.view(), .scales = scales.view()};
  EXPECT_THROW(ops::inference_linear(context, x.view(), weight, {}, y.view()), std::runtime_error);
}

}  // namespace
}  // namespace podium::test
