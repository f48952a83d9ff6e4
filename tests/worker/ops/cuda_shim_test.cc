// The CUDA kernels against the CPU back end, at sizes that take more than one thread, warp and block of each.
#include <cstring>

#include "tests/cuda_shim/block.h"
#include "tests/worker/ops/gelu_values.h"
#include "tests/worker/ops/op_check.h"
#include "worker/ops/cross_entropy.h"
#include "worker/ops/layer_norm.h"
#include "worker/ops/linear.h"
#include "worker/ops/optimizer.h"

namespace podium::test {
namespace {

// What a sub-layer's end computes, forward and back.
struct SubLayer {
  SubLayer(DType type, std::int64_t rows, std::int64_t columns)
      : sum(tensor_of(random_values(rows * columns, 1), type, {rows, columns})),
        residual(tensor_of(random_values(rows * columns, 2), type, {rows, columns})),
        dy(tensor_of(random_values(rows * columns, 3), type, {rows, columns})),
        gamma(tensor_of(random_values(columns, 4), DType::f32, {columns})),
        beta(tensor_of(random_values(columns, 5), DType::f32, {columns})),
        y(type, {rows, columns}),
        dsum(type, {rows, columns}),
        dbranch(type, {rows, columns}),
        statistics(DType::f32, {rows, 2}),
        dgamma(DType::f32, {columns}),
        dbeta(DType::f32, {columns}),
        dbias(DType::f32, {columns}) {}

  void run(Context& context) {
    const ops::Dropout dropout = ops::make_dropout(0.3, philox_key(1, 2), 3, 4);
    const ops::LayerNormParameters parameters{gamma.view(), beta.view(), 1e-12F};
    ops::add_layer_norm_forward(context, sum.view(), residual.view(), dropout, parameters, y.view(),
                                statistics.view());
    ops::add_layer_norm_backward(context, dy.view(), sum.view(), statistics.view(), dropout, parameters,
                                 dsum.view(), dbranch.view(), {dgamma.view(), dbeta.view(), dbias.view()},
                                 residual.view());
  }

  Tensor sum, residual, dy, gamma, beta, y, dsum, dbranch, statistics, dgamma, dbeta, dbias;
};

void expect_as_on_cpu(DType type, std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(std::string(to_string(type)) + to_string(Shape{rows, columns}));
  Context cuda = make_context(1), cpu{.threads = 2};
  SubLayer actual(type, rows, columns), expected(type, rows, columns);
  actual.run(cuda);
  expected.run(cpu);
  EXPECT_EQ(values_of(actual.sum), values_of(expected.sum)) << "rounded once on both, with one dropout mask";
  const double tolerance = type == DType::f32 ? 1e-5 : type == DType::bf16 ? 4e-3 : 5e-4;
  expect_close(values_of(actual.y), values_of(expected.y), tolerance, "y");
  expect_close(values_of(actual.dsum), values_of(expected.dsum), tolerance, "dsum");
  expect_close(values_of(actual.dbranch), values_of(expected.dbranch), tolerance, "dbranch");
  expect_close(values_of(actual.dgamma), values_of(expected.dgamma), 1e-5, "dgamma");
  expect_close(values_of(actual.dbeta), values_of(expected.dbeta), 1e-5, "dbeta");
  expect_close(values_of(actual.dbias), values_of(expected.dbias), tolerance, "dbias");
}

TEST(CudaLayerNorm, ComputesWhatTheCpuComputes) {
  expect_as_on_cpu(DType::f32, 7, 256);
  expect_as_on_cpu(DType::bf16, 1100, 104);  // more rows than blocks, and a part of a warp
  expect_as_on_cpu(DType::f16, 5, 768);
  expect_as_on_cpu(DType::bf16, 5, 1024);
  expect_as_on_cpu(DType::bf16, 3, 1601);  // two warps, and rows that no vector access fits
  expect_as_on_cpu(DType::f32, 3, 5000);
}

TEST(CudaLayerNorm, DoesNotDependOnTheOrderOfThreads) {
  shim::results_in_every_order([] {
    Context context = make_context(1);
    SubLayer layer(DType::bf16, 9, 2048);
    layer.run(context);
    std::vector<std::byte> results;
    for (Tensor* const tensor :
         {&layer.y, &layer.dsum, &layer.dbranch, &layer.dgamma, &layer.dbeta, &layer.dbias}) {
      const auto* const bytes = static_cast<const std::byte*>(tensor->view().address);
      results.insert(results.end(), bytes, bytes + tensor->view().bytes());
    }
    return results;
  });
}

// A linear layer's backward behind a GELU; returns the bias gradient.
Values bias_gradient(Context& context, DType type, std::int64_t rows, std::int64_t columns) {
  const Tensor dy = tensor_of(random_values(rows * 3, 1), type, {rows, 3});
  const Tensor w = tensor_of(random_values(3 * columns, 2), DType::f32, {3, columns});
  Tensor gelu = tensor_of(random_values(rows * columns, 3), type, {rows, columns});
  Tensor dx(type, {rows, columns}), sums(DType::f32, {columns});
  ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
  ops::linear_backward_input(
      context, dy.view(), weight, dx.view(),
      {.gelu = saved_gelu(context, gelu, ops::GeluKind::erf), .column_sums = sums.view()});
  return values_of(sums);
}

TEST(CudaColumnSums, AreThoseOfTheCpu) {
  Context cuda = make_context(1), cpu{.threads = 2};
  for (const std::int64_t columns : {1, 520, 1101}) {  // one block, two, and rows that no vector access fits
    expect_close(bias_gradient(cuda, DType::f32, 70, columns), bias_gradient(cpu, DType::f32, 70, columns),
                 1e-5, "bias gradient");
    expect_close(bias_gradient(cuda, DType::bf16, 700, columns),
                 bias_gradient(cpu, DType::bf16, 700, columns), 4e-3, "bias gradient in bf16");
  }
}

// A decoder over 13 words, whose logits have 16 columns or only the 13, forward and back.
struct Decoded {
  explicit Decoded(Context& context, std::int64_t columns) : logits(DType::bf16, {kRows, columns}) {
    ops::LinearWeight weight{.master = w.view(), .generation = 1, .packed = nullptr};
    ops::linear_forward(context, x.view(), weight, bias.view(), logits.view());
    ops::cross_entropy(context, logits.view(), kLabels, &sums, kWords);
    ops::cross_entropy_backward(context, logits.view(), kLabels, 0.5F, dbias.view(), &sums, kWords);
    ops::linear_backward_weight(context, x.view(), logits.view(), dw.view(), {});
    ops::linear_backward_input(context, logits.view(), weight, dx.view());
  }

  static constexpr std::int64_t kRows = 5, kWords = 13, kHidden = 24;
  inline static const std::vector<std::int32_t> kLabels = {12, -1, 0, 7, 3};
  Tensor x = tensor_of(random_values(kRows * kHidden, 1), DType::bf16, {kRows, kHidden});
  Tensor w = tensor_of(random_values(kWords * kHidden, 2), DType::f32, {kWords, kHidden});
  Tensor bias = tensor_of(random_values(kWords, 3), DType::f32, {kWords});
  Tensor logits, dw{DType::f32, {kWords, kHidden}}, dx{DType::bf16, {kRows, kHidden}};
  Tensor dbias{DType::f32, {kWords}};
  ops::CrossEntropySums sums;
};

TEST(CudaCrossEntropy, DoesNotSeePadding) {
  Context context = make_context(1);
  const Decoded plain(context, Decoded::kWords), padded(context, 16);
  EXPECT_NEAR(padded.sums.loss, plain.sums.loss, 1e-6 * plain.sums.loss);
  EXPECT_EQ(padded.sums.rows, 8);
  EXPECT_EQ(padded.sums.correct, plain.sums.correct);
  expect_close(values_of(padded.dw), values_of(plain.dw), 1e-6, "dw");
  expect_close(values_of(padded.dx), values_of(plain.dx), 1e-6, "dx");
  expect_close(values_of(padded.dbias), values_of(plain.dbias), 1e-6, "dbias");
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t column = 13; column < 16; ++column)
      EXPECT_EQ(value_at(padded.logits, 16 * row + column), 0);
  }
}

// Both optimizers leave in the 16-bit copy what the weights round to, and the same weights as without one.
template <class T, class Round>
void expect_narrowed(DType type, const Round& round) {
  constexpr std::int64_t kCount = 1100, kSecond = 1056;  // a chunk of many threads, one that ends within four
  const std::vector<ops::OptimizerChunk> chunks = {{0, 0, 1050, 0, 1}, {kSecond, kSecond, 43, 1, 0}};
  const std::vector<float> scales = {0.1F, 0.2F};
  const ops::Rates rates{0.9F, 0.99F, 0.1F, 0.01F, 1.0F, 2.0F, 3.0F, 1e-6F, 0.1F, 0.01F};
  for (const bool lamb : {false, true}) {
    Context context = make_context(1);
    const auto updated = [&](void* narrowed) {
      std::vector<Values> buffers;
      for (const std::uint64_t stream : {1, 2, 3}) buffers.push_back(random_values(kCount, stream));
      buffers.push_back(Values(kCount, 0.5F));
      const ops::OptimizerShard shard{
          chunks, buffers[0].data(), buffers[1].data(), {buffers[2].data(), buffers[3].data()}, narrowed,
          type};
      lamb ? ops::lamb_step(context, shard, scales) : ops::adamw(context, shard, rates);
      return buffers[0];
    };
    std::vector<T> narrowed(kCount);
    const Values weights = updated(narrowed.data());
    EXPECT_EQ(weights, updated(nullptr));
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool covered = i < 1050 || (i >= kSecond && i < kSecond + 43);
      EXPECT_EQ(to_float(narrowed[i]), covered ? to_float(round(weights[i])) : 0.0F) << i;
    }
  }
}

TEST(CudaOptimizers, WriteTheCopyInSixteenBits) {
  expect_narrowed<BFloat16>(DType::bf16, [](float value) { return to_bfloat16(value); });
  expect_narrowed<Float16>(DType::f16, [](float value) { return to_float16(value); });
}

// A recorded step is replayed after its numbers in device memory have been replaced.
TEST(StepValue, IsReadWhenTheKernelRuns) {
  Context context = make_context(1);
  const Tensor x = tensor_of(Values(4 * 256, 1.0F), DType::f32, {4, 256});
  const auto dropped = [&](const ops::StepValue<PhiloxKey>& key) {
    Tensor y(DType::f32, {4, 256});
    ops::dropout(context, x.view(), ops::make_dropout(0.5, key, 1, 2), y.view());
    return values_of(y);
  };
  PhiloxKey of_step = philox_key(3, 1);
  const ops::StepValue<PhiloxKey> recorded(PhiloxKey{}, &of_step);
  EXPECT_EQ(dropped(recorded), dropped(philox_key(3, 1)));
  of_step = philox_key(3, 2);
  EXPECT_EQ(dropped(recorded), dropped(philox_key(3, 2)));

  const float scale = 0.25F;
  const std::vector<std::int32_t> labels = {1, 200};
  const auto gradient = [&](const ops::StepValue<float>& given) {
    Tensor logits = tensor_of(random_values(2 * 256, 5), DType::f32, {2, 256});
    ops::CrossEntropySums sums;
    ops::cross_entropy_backward(context, logits.view(), labels, given, {}, &sums);
    return values_of(logits);
  };
  EXPECT_EQ(gradient({0.0F, &scale}), gradient(0.25F));
}

}  // namespace
}  // namespace podium::test
