// The CPU's ways of a product for inference, each on any processor that has it: i8 exactly, floats to their
// rounding, and all of them whatever the extents, the threads and the other rows are.
#include <algorithm>

#include "tests/worker/ops/op_check.h"
#include "worker/ops/cpu/inference_weight.h"
#include "worker/ops/cpu/state.h"

namespace podium::test {
namespace {

using namespace ops::cpu;
using Isa = dnnl::cpu_isa;

struct Extents {
  std::int64_t rows, out, in;
};

// Whole panels and tiles, one beside them, and less than one; words of which a part is beyond the inputs;
// queries, keys and values of two heads.
const std::vector<Extents> kExtents{{1, 1, 1},    {1, 64, 64},  {2, 65, 63},   {3, 7, 5},      {5, 130, 66},
                                    {6, 64, 128}, {7, 63, 127}, {13, 200, 34}, {97, 129, 770}, {7, 384, 128}};

bool has(Isa isa) {
  const auto wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

std::vector<std::int8_t> random_bytes(std::int64_t count, std::uint64_t stream) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(count));
  Random random(42, stream);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(static_cast<int>(random.below(256)) - 128);
  return values;
}

Tensor bytes_of(const std::vector<std::int8_t>& values, const Shape& shape) {
  Tensor tensor(DType::i8, shape);
  std::ranges::copy(values, tensor.view().values<std::int8_t>().begin());
  return tensor;
}

// x w^T by the letter. Integers in 64 bits, floats in double precision.
template <class T, class Sum>
Values products(const Extents& e, const std::vector<T>& x, const std::vector<T>& w) {
  Values sums;
  for (std::int64_t r = 0; r < e.rows; ++r) {
    for (std::int64_t o = 0; o < e.out; ++o) {
      Sum sum = 0;
      for (std::int64_t k = 0; k < e.in; ++k)
        sum += static_cast<Sum>(x[static_cast<std::size_t>(r * e.in + k)]) *
               static_cast<Sum>(w[static_cast<std::size_t>(o * e.in + k)]);
      sums.push_back(static_cast<float>(sum));
    }
  }
  return sums;
}

Values by_panels(const Extents& e, const Tensor& x, const Tensor& w, int threads) {
  Context context{.threads = threads};
  const PanelWeight weight = make_panels(w.view(), threads);
  Values sums(static_cast<std::size_t>(e.rows * e.out), NAN);
  multiply_by_panels(context, x.view(), weight, [&](const Tile& tile, const float* found) {
    for (std::int64_t r = 0; r < tile.rows; ++r)
      std::copy_n(found + r * kPanelOutputs, tile.columns,
                  sums.begin() + (tile.row + r) * e.out + tile.column);
  });
  return sums;
}

Values by(IntegerWeight& weight, const Extents& e, const Tensor& x) {
  Context context{.threads = 2};
  Tensor sums(DType::f32, {e.rows, e.out});
  weight.multiply(context, x.view(), sums.view());
  return values_of(sums);
}

// By every way that this processor has.
void check_integers(const Extents& e, const std::vector<std::int8_t>& x, const std::vector<std::int8_t>& w) {
  SCOPED_TRACE(testing::Message() << e.rows << " rows, out " << e.out << ", in " << e.in);
  const Tensor x_tensor = bytes_of(x, {e.rows, e.in}), w_tensor = bytes_of(w, {e.out, e.in});
  const Values expected = products<std::int8_t, std::int64_t>(e, x, w);
  EXPECT_EQ(by(*integer_weight_for_any_processor(w_tensor.view()), e, x_tensor), expected);
  if (!has(Isa::avx512_core_vnni)) return;
  EXPECT_EQ(by_panels(e, x_tensor, w_tensor, 2), expected);
  EXPECT_EQ(by(*integer_weight_for_matrix_units(w_tensor.view()), e, x_tensor), expected);
}

TEST(CpuProducts, IntegersAreExactWhateverTheExtents) {
  for (const Extents& e : kExtents)
    check_integers(e, random_bytes(e.rows * e.in, 1), random_bytes(e.out * e.in, 2));
}

// Sums of pairs of these do not fit in 16 bits, and 8 of them not in f32's 24.
TEST(CpuProducts, IntegersAreExactAtTheEndsOfTheirRange) {
  const Extents e{7, 66, 2050};
  const auto x_count = static_cast<std::size_t>(e.rows * e.in),
             w_count = static_cast<std::size_t>(e.out * e.in);
  for (const int x : {-128, 127})
    for (const int w : {-128, 127})
      check_integers(e, std::vector<std::int8_t>(x_count, static_cast<std::int8_t>(x)),
                     std::vector<std::int8_t>(w_count, static_cast<std::int8_t>(w)));
}

TEST(CpuProducts, OneWeightServesEveryNumberOfRows) {
  const Extents most{40, 65, 70};
  const std::vector<std::int8_t> x = random_bytes(most.rows * most.in, 1),
                                 w = random_bytes(most.out * most.in, 2);
  const Tensor w_tensor = bytes_of(w, {most.out, most.in});
  const auto portable = integer_weight_for_any_processor(w_tensor.view());
  const auto onednn = integer_weight_for_matrix_units(w_tensor.view());
  for (const std::int64_t rows : {1, 7, 40, 2}) {
    const Extents e{rows, most.out, most.in};
    const std::vector<std::int8_t> part(x.begin(), x.begin() + rows * most.in);
    const Tensor x_tensor = bytes_of(part, {rows, most.in});
    const Values expected = products<std::int8_t, std::int64_t>(e, part, w);
    EXPECT_EQ(by(*portable, e, x_tensor), expected) << rows;
    if (has(Isa::avx512_core_vnni)) {
      EXPECT_EQ(by(*onednn, e, x_tensor), expected) << rows;
    }
  }
}

class FloatPanels : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!panels_multiply(GetParam())) GTEST_SKIP() << "skipped: waits for a processor with panels of this type";
  }
};

TEST_P(FloatPanels, MultiplyWhateverTheExtents) {
  for (const Extents& e : kExtents) {
    SCOPED_TRACE(testing::Message() << e.rows << " rows, out " << e.out << ", in " << e.in);
    const Values x = random_values(e.rows * e.in, 1), w = random_values(e.out * e.in, 2);
    const Tensor x_tensor = tensor_of(x, GetParam(), {e.rows, e.in}),
                 w_tensor = tensor_of(w, GetParam(), {e.out, e.in});
    expect_close(by_panels(e, x_tensor, w_tensor, 2), products<float, double>(e, x, w), 1e-6, "sums");
  }
}

TEST_P(FloatPanels, AResultDependsNeitherOnThreadsNorOnOtherRows) {
  const Extents e{160, 200, 771};
  const Values x = random_values(e.rows * e.in, 1), w = random_values(e.out * e.in, 2);
  const Tensor w_tensor = tensor_of(w, GetParam(), {e.out, e.in});
  const Values together = by_panels(e, tensor_of(x, GetParam(), {e.rows, e.in}), w_tensor, 1);
  for (const int threads : {2, 5})
    EXPECT_EQ(by_panels(e, tensor_of(x, GetParam(), {e.rows, e.in}), w_tensor, threads), together) << threads;
  for (const std::int64_t row : {0, 3, 159}) {
    const Values own(x.begin() + row * e.in, x.begin() + (row + 1) * e.in);
    const Values expected(together.begin() + row * e.out, together.begin() + (row + 1) * e.out);
    EXPECT_EQ(by_panels({1, e.out, e.in}, tensor_of(own, GetParam(), {1, e.in}), w_tensor, 2), expected)
        << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FloatPanels, testing::Values(DType::f32, DType::bf16),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(CpuProducts, TakeTheFastestWayThatTheProcessorHas) {
  using enum ProductWay;
  struct Row {
    Isa isa;
    ProductPlan f32, bf16, i8, e4m3;
  };
  const ProductPlan f32_onednn{onednn, DType::f32}, bf16_onednn{onednn, DType::bf16},
      f32_panels{panels, DType::f32}, bf16_panels{panels, DType::bf16}, i8_panels{panels, DType::i8},
      i8_wide{wide_integers, DType::i8}, i8_onednn{onednn, DType::i8};
  const std::vector<Row> rows{{Isa::avx2, f32_onednn, bf16_onednn, i8_wide, f32_onednn},
                              {Isa::avx2_vnni, f32_onednn, bf16_onednn, i8_wide, f32_onednn},
                              {Isa::avx512_core, f32_panels, bf16_onednn, i8_wide, f32_panels},
                              {Isa::avx512_core_vnni, f32_panels, bf16_onednn, i8_panels, f32_panels},
                              {Isa::avx512_core_bf16, f32_panels, bf16_panels, i8_panels, bf16_panels},
                              {Isa::avx512_core_amx, f32_panels, bf16_onednn, i8_onednn, bf16_onednn}};
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.isa));
    EXPECT_EQ(product_plan(DType::f32, row.isa), row.f32);
    EXPECT_EQ(product_plan(DType::f16, row.isa), row.f32);
    EXPECT_EQ(product_plan(DType::bf16, row.isa), row.bf16);
    EXPECT_EQ(product_plan(DType::i8, row.isa), row.i8);
    EXPECT_EQ(product_plan(DType::e4m3, row.isa), row.e4m3);
  }
}

}  // namespace
}  // namespace podium::test
