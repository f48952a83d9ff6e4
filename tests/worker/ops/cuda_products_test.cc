// Products that cuBLASLt refuses: the next way is taken, and nothing stays behind of the one that failed.
#include <gmock/gmock.h>

#include "tests/cuda_shim/device_memory.h"
#include "tests/cuda_shim/products.h"
#include "tests/worker/ops/gelu_values.h"
#include "tests/worker/ops/op_check.h"
#include "tests/worker/ops/quantised_values.h"
#include "worker/ops/inference_linear.h"
#include "worker/ops/linear.h"

namespace podium::test {
namespace {

using ops::cuda::Product;
using ops::cuda::ProductEnd;

constexpr std::int64_t kRows = 24, kIn = 40, kOut = 16;

// y and gradients of gelu(x W^T + b) W_next^T.
struct GeluLayers {
  explicit GeluLayers(DType type)
      : x(tensor_of(random_values(kRows * kIn, 1), type, {kRows, kIn})),
        dy(tensor_of(random_values(kRows * kOut, 2), type, {kRows, kOut})),
        inner(type, {kRows, kIn}),
        y(type, {kRows, kIn}),
        dx(type, {kRows, kIn}) {}

  void run(Context& context) {
    ops::LinearWeight first{.master = w.view(), .generation = 1},
        next{.master = next_w.view(), .generation = 1};
    ops::linear_gelu_forward(context, x.view(), first, b.view(), ops::GeluKind::tanh, inner.view(), y.view());
    ops::linear_backward_input(context, dy.view(), next, dx.view(),
                               {.gelu = {inner.view(), ops::GeluKind::tanh}, .column_sums = sums.view()});
  }

  Tensor x, dy, inner, y, dx;
  Tensor w = tensor_of(random_values(kIn * kIn, 3), DType::f32, {kIn, kIn});
  Tensor b = tensor_of(random_values(kIn, 4), DType::f32, {kIn});
  Tensor next_w = tensor_of(random_values(kOut * kIn, 5), DType::f32, {kOut, kIn});
  Tensor sums{DType::f32, {kIn}};
};

// How products ended that were asked for.
using Ends = std::vector<ProductEnd>;

void expect_as_on_cpu(const std::function<bool(const Product&)>& refuses, const Ends& asked, DType type) {
  Context cuda = make_context(1), cpu{.threads = 2};
  GeluLayers actual(type), expected(type);
  Ends ends;
  {
    const shim::RefusedProducts refused([&](const Product& product, int algorithm) {
      if (algorithm == shim::kEveryAlgorithm) ends.push_back(product.end);
      return algorithm == shim::kEveryAlgorithm && refuses(product);
    });
    actual.run(cuda);
    actual.sums = Tensor(DType::f32, {kIn});
    actual.run(cuda);
  }
  EXPECT_EQ(ends, asked) << "once each, though they came up twice";
  expected.run(cpu);
  expect_close(values_of(actual.y), values_of(expected.y), 1e-2, "y");
  expect_close(values_of(actual.dx), values_of(expected.dx), 1e-2, "dx");
  expect_close(values_of(actual.sums), values_of(expected.sums), 1e-2, "column sums");
}

TEST(CudaProducts, TakeTheGeluAlongWhereTheLibraryDoes) {
  using enum ProductEnd;
  for (const DType type : {DType::bf16, DType::f16}) {
    SCOPED_TRACE(to_string(type));
    expect_as_on_cpu([](const Product&) { return false; }, {gelu_forward, gelu_backward}, type);
    expect_as_on_cpu([](const Product& p) { return p.end != plain; },
                     {gelu_forward, plain, gelu_backward, plain}, type);
  }
}

TEST(CudaProducts, AreNotTimedWhereNoRoomIsLeft) {
  Context context = make_context(1);
  context.deterministic = false;
  GeluLayers layers(DType::bf16);
  layers.run(context);  // whose copies of weights take their room
  std::vector<int> started;
  const shim::RefusedProducts watched([&](const Product&, int algorithm) {
    if (algorithm != shim::kEveryAlgorithm) started.push_back(algorithm);
    return false;
  });
  const Tensor x = tensor_of(random_values(kRows * kOut, 1), DType::bf16, {kRows, kOut});
  Tensor dx(DType::bf16, {kRows, kIn});
  ops::LinearWeight weight{.master = layers.next_w.view(), .generation = 1};
  ops::linear_prepare(context, weight, {}, DType::bf16, kOut);
  const shim::FullDevice full(0);
  ops::linear_backward_input(context, x.view(), weight, dx.view());
  EXPECT_THAT(started, testing::ElementsAre(0));
}

TEST(CudaProducts, AskForNoGeluWhereVectorsDoNotFit) {
  Context context = make_context(1);
  const Tensor x = tensor_of(random_values(kRows * 12, 1), DType::f16, {kRows, 12});
  const Tensor w = tensor_of(random_values(kOut * 12, 2), DType::f32, {kOut, 12});
  ops::LinearWeight weight{.master = w.view(), .generation = 1};
  Tensor saved(DType::f16, {kRows, kOut}), y(DType::f16, {kRows, kOut});
  bool ended = false;
  const shim::RefusedProducts watched([&](const Product& product, int) {
    ended = ended || product.end != ProductEnd::plain;
    return false;
  });
  ops::linear_gelu_forward(context, x.view(), weight, {}, ops::GeluKind::tanh, saved.view(), y.view());
  EXPECT_FALSE(ended) << "12 terms are no multiple of 8";
}

// y = x W^T, or the error.
struct Plain {
  std::string run(Context& context) {
    ops::LinearWeight weight{.master = w.view(), .generation = 1};
    try {
      ops::linear_forward(context, x.view(), weight, {}, y.view());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  Tensor x = tensor_of(random_values(kRows * kIn, 1), DType::f32, {kRows, kIn});
  Tensor w = tensor_of(random_values(kOut * kIn, 2), DType::f32, {kOut, kIn});
  Tensor y{DType::f32, {kRows, kOut}};
};

TEST(CudaProducts, TakeTheNextAlgorithmWhereTheFirstFails) {
  for (const bool deterministic : {true, false}) {
    Context context = make_context(1), cpu{.threads = 2};
    context.deterministic = deterministic;
    Plain actual, expected;
    std::vector<int> tried;
    const shim::RefusedProducts refused([&](const Product&, int algorithm) {
      tried.push_back(algorithm);
      return algorithm == 0 || algorithm == 1;
    });
    EXPECT_EQ(actual.run(context), "");
    tried.clear();
    EXPECT_EQ(actual.run(context), "");
    EXPECT_EQ(tried, std::vector{2}) << "the choice stays";
    expected.run(cpu);
    expect_close(values_of(actual.y), values_of(expected.y), 1e-6, "y");
  }
}

TEST(CudaProducts, ThatHaveNoWaySaySoEveryTime) {
  Context context = make_context(1);
  Plain product;
  const shim::RefusedProducts refused(
      [](const Product&, int algorithm) { return algorithm != shim::kEveryAlgorithm; });
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(product.run(context),
              "cuBLASLt has no algorithm for a product of [24, 40] and [40, 16] in f32");
}

// An inference product; all of cuBLASLt's are refused.
void expect_inference_without_the_library(DType type, std::int64_t rows, bool deterministic, bool is_asked) {
  SCOPED_TRACE(std::string(to_string(type)) + ", rows " + std::to_string(rows));
  Context cuda = make_context(1), cpu{.threads = 2};
  cuda.deterministic = deterministic;
  const bool is_integer = type == DType::i8;
  const auto made = [&](std::int64_t count, std::uint64_t stream, const Shape& shape) {
    return is_integer ? quantised_tensor_of(random_quantised(type, count, stream), type, shape)
                      : tensor_of(random_values(count, stream), type, shape);
  };
  const Tensor x = made(rows * 64, 1, {rows, 64}), w = made(32 * 64, 2, {32, 64});
  const Tensor scales = tensor_of(Values(32, 0.01F), DType::f32, {32});
  const auto computed = [&](Context& context) {
    ops::InferenceWeight weight{.values = w.view()};
    if (is_integer) weight.scales = scales.view();
    Tensor y(DType::f16, {rows, 32});
    for (int i = 0; i < 2; ++i) ops::inference_linear(context, x.view(), weight, {}, y.view());
    return values_of(y);
  };
  int asked = 0;
  const shim::RefusedProducts refused([&](const Product&, int) { return ++asked > 0; });
  expect_close(computed(cuda), computed(cpu), 1e-3, "y");
  EXPECT_EQ(asked > 0, is_asked);
}

TEST(CudaProducts, OfInferenceGoAnotherWay) {
  expect_inference_without_the_library(DType::f16, 520, true, true);  // by rule the library's
  expect_inference_without_the_library(DType::f16, 20, false, true);
  expect_inference_without_the_library(DType::i8, 40, false, true);
  expect_inference_without_the_library(DType::i8, 16, false, false);  // which cuBLASLt does not take
}

}  // namespace
}  // namespace podium::test
