#include "worker/ops/cpu/integer_product.h"

#include <algorithm>

#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

// In the layouts that oneDNN asks for: products of few rows may want another one than those of many.
class OneDnnWeight final : public IntegerWeight {
 public:
  explicit OneDnnWeight(ConstTensorView values) : values_(values) {}

  void multiply(Context& context, ConstTensorView x, TensorView sums) override {
    CpuState& state = cpu_state(context);
    const ThreadsScope threads(context.threads);
    const std::shared_ptr<Matmul> product =
        state.matmul({.m = x.shape[0],
                      .n = sums.shape[1],
                      .k = x.shape[1],
                      .a = {DType::i8},
                      .b = {.dtype = DType::i8, .transposed = true, .packed = true},
                      .c = {DType::f32}});
    product->run(state.runtime(), {.a = x.address, .c = sums.address},
                 packed(state, product->packed_layout()));
  }

 private:
  const dnnl::memory& packed(CpuState& state, const dnnl::memory::desc& layout) {
    const auto found = std::ranges::find(copies_, layout, &dnnl::memory::get_desc);
    if (found != copies_.end()) return *found;
    const std::int64_t out = values_.shape[0], in = values_.shape[1];
    dnnl::memory plain({{in, out}, dnnl::memory::data_type::s8, dnnl::memory::dims{1, in}}, state.engine(),
                       const_cast<void*>(values_.address));
    dnnl::memory& copy = copies_.emplace_back(layout, state.engine());
    dnnl::reorder(plain, copy).execute(state.runtime().stream, plain, copy);
    return copy;
  }

  ConstTensorView values_;
  std::vector<dnnl::memory> copies_;
};

// The products of one row of x with kOutputs rows of the weight, which are `in` elements apart.
constexpr int kOutputs = 4;

PODIUM_SIMD_CLONES void multiply_row(const std::int16_t* x, const std::int16_t* w, std::int64_t in,
                                     float* sums) {
  std::int32_t a = 0, b = 0, c = 0, d = 0;
#pragma omp simd reduction(+ : a, b, c, d)
  for (std::int64_t i = 0; i < in; ++i) {
    const std::int32_t value = x[i];
    a += value * w[i];
    b += value * w[in + i];
    c += value * w[2 * in + i];
    d += value * w[3 * in + i];
  }
  sums[0] = static_cast<float>(a);
  sums[1] = static_cast<float>(b);
  sums[2] = static_cast<float>(c);
  sums[3] = static_cast<float>(d);
}

// In 16 bits, the width that processors multiply and add in pairs.
class WideWeight final : public IntegerWeight {
 public:
  explicit WideWeight(ConstTensorView values)
      : groups_((values.shape[0] + kOutputs - 1) / kOutputs),
        integers_(static_cast<std::size_t>(groups_ * kOutputs * values.shape[1])) {
    std::ranges::copy(values.values<std::int8_t>(), integers_.begin());
  }

  void multiply(Context& context, ConstTensorView x, TensorView sums) override {
    const ArenaScope scope(context.scratch);
    const std::int64_t rows = x.shape[0], in = x.shape[1], out = sums.shape[1];
    auto* const wide = static_cast<std::int16_t*>(
        context.scratch.allocate_bytes(static_cast<std::size_t>(x.size()) * sizeof(std::int16_t)));
    std::ranges::copy(x.values<std::int8_t>(), wide);
    float* const to = sums.data<float>();
    parallel_ranges(context.threads, groups_, 1, [&](Range range, int) {
      for (std::int64_t group = range.begin; group < range.end; ++group) {
        const std::int64_t first = group * kOutputs;
        for (std::int64_t row = 0; row < rows; ++row) {
          float four[kOutputs];
          multiply_row(wide + row * in, integers_.data() + first * in, in, four);
          std::copy_n(four, std::min<std::int64_t>(kOutputs, out - first), to + row * out + first);
        }
      }
    });
  }

 private:
  std::int64_t groups_;
  std::vector<std::int16_t> integers_;  // [groups * kOutputs, in]
};

}  // namespace

std::unique_ptr<IntegerWeight> integer_weight_for_matrix_units(ConstTensorView values) {
  return std::make_unique<OneDnnWeight>(values);
}

std::unique_ptr<IntegerWeight> integer_weight_for_any_processor(ConstTensorView values) {
  return std::make_unique<WideWeight>(values);
}

}  // namespace podium::ops::cpu
