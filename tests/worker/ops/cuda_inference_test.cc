// Every way in which CUDA computes an inference product, against the CPU back end and under every order of
// threads.
#include <cstring>

#include "tests/cuda_shim/block.h"
#include "tests/worker/ops/quantised_values.h"
#include "worker/ops/cuda/inference_linear.h"

namespace podium::test {
namespace {

using ops::Activation;
using ops::cuda::InferenceWay;

struct Case {
  std::int64_t rows, out, in;
  DType type, y_type;
  bool is_sparse = false;
  Activation activation = Activation::none;
  bool has_residual = false;
};

Tensor tensor(const Values& values, DType type, const Shape& shape) {
  return ops::is_quantised(type) ? quantised_tensor_of(values, type, shape) : tensor_of(values, type, shape);
}

Values values_for(DType type, std::int64_t count, std::uint64_t stream) {
  return ops::is_quantised(type) ? random_quantised(type, count, stream) : random_values(count, stream, 0.25);
}

// All pairs of positions come up.
Tensor some_positions(std::int64_t out, std::int64_t in) {
  constexpr std::uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  Random random(6, 1);
  Tensor positions(DType::u8, {out, in / 8});
  for (std::uint8_t& byte : positions.view().values<std::uint8_t>())
    byte = static_cast<std::uint8_t>(kPairs[random.below(6)] | kPairs[random.below(6)] << 4);
  return positions;
}

// A product with its operands.
class Product {
 public:
  explicit Product(const Case& c)
      : c_(c),
        x_(tensor(values_for(c.type, c.rows * c.in, 1), c.type, {c.rows, c.in})),
        kept_(c.is_sparse ? c.in / 2 : c.in),
        w_(tensor(values_for(c.type, c.out * kept_, 2), c.type, {c.out, kept_})),
        positions_(some_positions(c.out, c.in)),
        bias_(tensor_of(random_values(c.out, 3), DType::f32, {c.out})) {
    for (std::int64_t o = 0; o < c.out; ++o)
      scales_.view().data<float>()[o] = 1e-4F * static_cast<float>(o % 5 + 1);
    if (!ops::is_quantised(c.y_type))
      residual_ = tensor_of(random_values(c.rows * c.out, 4), c.y_type, {c.rows, c.out});
    if (c.has_residual) epilogue_.residual = std::as_const(residual_).view();
  }

  ops::InferenceWeight weight() const {
    ops::InferenceWeight weight{.values = w_.view(), .bias = bias_.view()};
    if (c_.is_sparse) weight.positions = positions_.view();
    if (ops::is_quantised(c_.type)) weight.scales = std::as_const(scales_).view();
    return weight;
  }
  Tensor on_cpu() const {
    Context context{.threads = 2};
    ops::InferenceWeight weight = this->weight();
    Tensor y(c_.y_type, {c_.rows, c_.out});
    ops::inference_linear(context, x_.view(), weight, epilogue_, y.view());
    return y;
  }
  std::vector<InferenceWay> ways() const {
    Context context = make_context(1);
    ops::InferenceWeight weight = this->weight();
    Tensor y(c_.y_type, {c_.rows, c_.out});
    return ops::cuda::inference_ways(context, {x_.view(), weight, epilogue_, y.view()});
  }
  Tensor by(const InferenceWay& way) const {
    Context context = make_context(1);
    ops::InferenceWeight weight = this->weight();
    Tensor y(c_.y_type, {c_.rows, c_.out});
    ops::cuda::compute(context, {x_.view(), weight, epilogue_, y.view()}, way);
    return y;
  }
  void expect_as_on_cpu(const InferenceWay& way, const Tensor& expected) const {
    SCOPED_TRACE(testing::Message() << to_string(c_.type) << " to " << to_string(c_.y_type) << " rows "
                                    << c_.rows << " out " << c_.out << " in " << c_.in << " sparse "
                                    << c_.is_sparse << " library " << way.library << " tile " << way.plan.tile
                                    << " splits " << way.plan.splits);
    const Tensor actual = by(way);
    if (ops::is_quantised(c_.y_type)) {
      // Beside the border between two steps either will do.
      const Values a = quantised_values_of(actual), b = quantised_values_of(expected);
      std::size_t apart = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_NEAR(a[i], b[i], c_.y_type == DType::i8 ? 1.0 : std::abs(b[i]) / 8 + 0x1p-9);
        apart += a[i] == b[i] ? 0 : 1;
      }
      EXPECT_LE(apart, a.size() / 50 + 1);
      return;
    }
    const double sums_tolerance = way.library && c_.type == DType::bf16 ? 4e-3 : way.library ? 5e-4 : 0;
    const double tolerance = c_.y_type == DType::f32 ? 1e-5 : c_.y_type == DType::bf16 ? 4e-3 : 5e-4;
    expect_close(values_of(actual), values_of(expected), std::max(tolerance, sums_tolerance), "y");
  }

 private:
  Case c_;
  Tensor x_;
  std::int64_t kept_;
  Tensor w_, positions_, bias_;
  Tensor scales_{DType::f32, {c_.out}};
  Tensor residual_;
  ops::InferenceEpilogue epilogue_{.activation = c_.activation, .y_scale = 0.02F};
};

template <class Wanted>
void check_ways(const Case& c, const Wanted& wanted) {
  const Product product(c);
  const Tensor expected = product.on_cpu();
  for (const InferenceWay& way : product.ways())
    if (wanted(way)) product.expect_as_on_cpu(way, expected);
}
void check_every_way(const Case& c) {
  check_ways(c, [](const InferenceWay&) { return true; });
}

constexpr DType kTypes[] = {DType::f16, DType::bf16, DType::i8, DType::e4m3};

// Inputs of five slabs and a part, so that stages are used again and splits are of unequal length.
std::int64_t inputs_for(DType type, bool is_sparse) {
  return (5 * 128 + 32) / static_cast<std::int64_t>(size_of(type)) * (is_sparse ? 2 : 1);
}

class CudaInference : public testing::TestWithParam<std::tuple<DType, bool>> {
 protected:
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

TEST_P(CudaInference, DoesNotDependOnTheOrderOfThreads) {
  const Product product({37, 72, in(), type(), DType::f32, is_sparse(), Activation::gelu, true});
  for (const InferenceWay& way : product.ways()) {
    shim::results_in_every_order([&] {
      const Tensor y = product.by(way);
      const auto* const bytes = static_cast<const std::byte*>(y.view().address);
      return std::vector<std::byte>(bytes, bytes + y.view().bytes());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaInference, testing::Combine(testing::ValuesIn(kTypes), testing::Bool()),
                         [](const auto& instance) {
                           return std::string(to_string(std::get<0>(instance.param))) +
                                  (std::get<1>(instance.param) ? "_sparse" : "_dense");
                         });

TEST(CudaInferenceWays, AreTheCheapestFirst) {
  // BERT-Large's four products in f16 at 128 rows: as many blocks as there are multiprocessors.
  const auto first = [](std::int64_t out, std::int64_t in) {
    return ops::cuda::tile_plans({128, out, 2 * in, 2 * in}, 227 << 10).front();
  };
  EXPECT_EQ(first(1024, 1024), (ops::cuda::TilePlan{0, 1}));
  EXPECT_EQ(first(4096, 1024), (ops::cuda::TilePlan{2, 1}));
  EXPECT_EQ(first(1024, 4096), (ops::cuda::TilePlan{2, 4}));
  for (const auto& plan : ops::cuda::tile_plans({128, 1024, 2048, 2048}, 99 << 10))
    EXPECT_LE(ops::cuda::kTileSizes[plan.tile].shared_bytes, 99 << 10);
}

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
