// Inference products with their operands, computed by the CPU and by CUDA in every way it has.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "tests/worker/ops/quantised_values.h"
#include "worker/ops/cuda/inference/entry.h"

namespace podium::test {

// Of the back end that the test program is linked for.
const ops::cuda::InferenceEntry& inference_entry();
bool device_has_e4m3();

using ops::Activation;
using ops::cuda::InferenceWay;

// Of a test's type and whether its weight is sparse.
inline std::string name_of(const testing::TestParamInfo<std::tuple<DType, bool>>& instance) {
  const auto [type, is_sparse] = instance.param;
  return std::string(to_string(type)) + (is_sparse ? "_sparse" : "_dense");
}

struct InferenceCase {
  std::int64_t rows, out, in;
  DType type, y_type;
  bool is_sparse = false;
  Activation activation = Activation::none;
  bool has_residual = false;
  float y_scale = 0.02F;
};

inline Tensor operand(const Values& values, DType type, const Shape& shape) {
  return ops::is_quantised(type) ? quantised_tensor_of(values, type, shape) : tensor_of(values, type, shape);
}

// Of large operands some values, drawn anew: to round each to 8 bits by search would take minutes.
inline Values values_for(DType type, std::int64_t count, std::uint64_t stream) {
  const std::int64_t drawn = std::min<std::int64_t>(count, 1 << 14);
  const Values some =
      ops::is_quantised(type) ? random_quantised(type, drawn, stream) : random_values(drawn, stream, 0.25);
  if (drawn == count) return some;
  Random random(43, stream);
  Values values(static_cast<std::size_t>(count));
  for (float& v : values) v = some[random.below(static_cast<std::uint32_t>(drawn))];
  return values;
}

// All pairs of positions come up.
inline Tensor some_positions(std::int64_t out, std::int64_t in) {
  constexpr std::uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  Random random(6, 1);
  Tensor positions(DType::u8, {out, in / 8});
  for (std::uint8_t& byte : positions.view().values<std::uint8_t>())
    byte = static_cast<std::uint8_t>(kPairs[random.below(6)] | kPairs[random.below(6)] << 4);
  return positions;
}

// A product with its operands.
class TestedProduct {
 public:
  explicit TestedProduct(const InferenceCase& c)
      : c_(c),
        x_(operand(values_for(c.type, c.rows * c.in, 1), c.type, {c.rows, c.in})),
        kept_(c.is_sparse ? c.in / 2 : c.in),
        w_(operand(values_for(c.type, c.out * kept_, 2), c.type, {c.out, kept_})),
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
    return inference_entry().ways(context, {x_.view(), weight, epilogue_, y.view()});
  }
  // None where the way does not do it.
  std::optional<Tensor> by(const InferenceWay& way) const {
    Context context = make_context(1);
    ops::InferenceWeight weight = this->weight();
    Tensor y(c_.y_type, {c_.rows, c_.out});
    if (!inference_entry().compute(context, {x_.view(), weight, epilogue_, y.view()}, way))
      return std::nullopt;
    return y;
  }
  void expect_as_on_cpu(const InferenceWay& way, const Tensor& expected) const {
    SCOPED_TRACE(testing::Message() << to_string(c_.type) << " to " << to_string(c_.y_type) << " rows "
                                    << c_.rows << " out " << c_.out << " in " << c_.in << " sparse "
                                    << c_.is_sparse << " library " << way.library << " tile " << way.plan.tile
                                    << " splits " << way.plan.splits);
    const std::optional<Tensor> computed = by(way);
    if (!computed) {
      EXPECT_TRUE(way.library) << "tiles do every product";
      return;
    }
    const Tensor& actual = *computed;
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
  InferenceCase c_;
  Tensor x_;
  std::int64_t kept_;
  Tensor w_, positions_, bias_;
  Tensor scales_{DType::f32, {c_.out}};
  Tensor residual_;
  ops::InferenceEpilogue epilogue_{.activation = c_.activation, .y_scale = c_.y_scale};
};

template <class Wanted>
void check_ways(const InferenceCase& c, const Wanted& wanted) {
  const TestedProduct product(c);
  const Tensor expected = product.on_cpu();
  for (const InferenceWay& way : product.ways())
    if (wanted(way)) product.expect_as_on_cpu(way, expected);
}
inline void check_every_way(const InferenceCase& c) {
  check_ways(c, [](const InferenceWay&) { return true; });
}

}  // namespace podium::test
