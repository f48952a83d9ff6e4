#include "worker/ops/cpu/few_rows.h"

#include <cstring>

#include "common/base/check.h"
#include "worker/ops/cpu/convert.h"
#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

constexpr int kLanes = 16;
constexpr int kOuts = 4;  // rows of the weight that are multiplied together
constexpr int kRows = 4;  // and rows of x

typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::uint32_t WideBits __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
typedef std::uint16_t HalfBits __attribute__((vector_size(kLanes * sizeof(std::uint16_t))));

PODIUM_INLINE void load_lanes(const float* from, Lanes& to) { std::memcpy(&to, from, sizeof(to)); }
PODIUM_INLINE void load_lanes(const BFloat16* from, Lanes& to) {
  HalfBits bits;
  std::memcpy(&bits, from, sizeof(bits));
  const WideBits wide = __builtin_convertvector(bits, WideBits) << 16;
  std::memcpy(&to, &wide, sizeof(to));
}

// As to_float() does (dtype.h).
PODIUM_INLINE void load_lanes(const Float16* from, Lanes& to) {
  HalfBits bits;
  std::memcpy(&bits, from, sizeof(bits));
  const WideBits half = __builtin_convertvector(bits, WideBits);
  const WideBits magnitude = (half & 0x7fffU) << 13, sign = (half & 0x8000U) << 16;
  const Lanes subnormal = (Lanes)(magnitude + (113U << 23)) - 0x1p-14F;
  WideBits wide = magnitude + (112U << 23);
  wide = magnitude >= (31U << 23) ? magnitude + (224U << 23) : wide;
  wide = magnitude < (1U << 23) ? (WideBits)subnormal : wide;
  to = (Lanes)(wide | sign);
}

// Row r of x with row o of the weight, for kX and kW rows that follow one another. Each pair adds its lanes
// up in the same order whatever kX and kW are.
template <class W, int kX, int kW>
PODIUM_INLINE void multiply_tile(const float* x, const W* w, std::int64_t in, float* sums,
                                 std::int64_t stride) {
  Lanes total[kX][kW] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= in; k += kLanes) {
    Lanes weights[kW];
#pragma GCC unroll 4
    for (int o = 0; o < kW; ++o) {
      __builtin_prefetch(w + (kW + o) * in + k);  // of the next tile: rows are too short to be foreseen
      load_lanes(w + o * in + k, weights[o]);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kX; ++r) {
      Lanes values;
      load_lanes(x + r * in + k, values);
#pragma GCC unroll 4
      for (int o = 0; o < kW; ++o) total[r][o] += values * weights[o];
    }
  }
  for (int r = 0; r < kX; ++r)
    for (int o = 0; o < kW; ++o) {
      float sum = 0.0F;
      for (int lane = 0; lane < kLanes; ++lane) sum += total[r][o][lane];
      for (std::int64_t i = k; i < in; ++i) sum += x[r * in + i] * to_float(w[o * in + i]);
      sums[r * stride + o] = sum;
    }
}

template <class W, int kW>
PODIUM_INLINE void multiply_outs(const float* x, std::int64_t rows, const W* w, std::int64_t in, float* sums,
                                 std::int64_t stride) {
  std::int64_t row = 0;
  for (; row + kRows <= rows; row += kRows)
    multiply_tile<W, kRows, kW>(x + row * in, w, in, sums + row * stride, stride);
  for (; row < rows; ++row) multiply_tile<W, 1, kW>(x + row * in, w, in, sums + row * stride, stride);
}

// Outputs [range.begin, range.end) of all rows.
template <class W>
PODIUM_SIMD_CLONES void multiply_range(const float* x, std::int64_t rows, const W* w, std::int64_t in,
                                       Range range, float* sums, std::int64_t stride) {
  std::int64_t out = range.begin;
  for (; out + kOuts <= range.end; out += kOuts)
    multiply_outs<W, kOuts>(x, rows, w + out * in, in, sums + out, stride);
  for (; out < range.end; ++out) multiply_outs<W, 1>(x, rows, w + out * in, in, sums + out, stride);
}

}  // namespace

void multiply_few_rows(Context& context, ConstTensorView x, ConstTensorView weight, TensorView sums,
                       const std::function<void(Range outputs)>& finish) {
  const std::int64_t rows = x.shape[0], in = weight.shape[1], out = weight.shape[0];
  const ArenaScope scope(context.scratch);
  const float* values = static_cast<const float*>(x.address);
  if (x.dtype != DType::f32) {
    float* const wide = context.scratch.allocate(DType::f32, x.shape).data<float>();
    widen(x.address, x.dtype, x.size(), wide, 1);
    values = wide;
  }
  with_float_type(weight.dtype, [&]<class W>(Type<W>) {
    parallel_ranges(context.threads, out, kOuts, [&](Range range, int) {
      multiply_range(values, rows, weight.data<W>(), in, range, sums.data<float>(), out);
      finish(range);
    });
  });
}

}  // namespace podium::ops::cpu
