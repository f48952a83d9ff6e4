#include "worker/ops/cpu/product_epilogue.h"

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/quantise.h"
#include "worker/ops/cpu/vector_math.h"

namespace podium::ops::cpu {
namespace {

// A tile's sums, and what becomes of them in place.
struct TileValues {
  float* begin = nullptr;
  std::int64_t stride = 0, rows = 0, columns = 0;
};

// Without scales those are 1, without a bias that is 0.
PODIUM_SIMD_CLONES void scale_and_shift(const TileValues& v, const float* scales, const float* bias) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    float* const row = v.begin + i * v.stride;
    if (scales == nullptr) {
#pragma omp simd
      for (std::int64_t j = 0; j < v.columns; ++j) row[j] += bias[j];
    } else if (bias == nullptr) {
#pragma omp simd
      for (std::int64_t j = 0; j < v.columns; ++j) row[j] *= scales[j];
    } else {
#pragma omp simd
      for (std::int64_t j = 0; j < v.columns; ++j) row[j] = row[j] * scales[j] + bias[j];
    }
  }
}

PODIUM_SIMD_CLONES void activate_gelu(const TileValues& v) {
  constexpr float kInverseRoot2 = 0.70710678118654752F;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    float* const row = v.begin + i * v.stride;
#pragma omp simd
    for (std::int64_t j = 0; j < v.columns; ++j) row[j] *= 0.5F + 0.5F * fast_erf(row[j] * kInverseRoot2).erf;
  }
}

PODIUM_SIMD_CLONES void activate_gelu_tanh(const TileValues& v) {
  constexpr float kTwoRoot2OverPi = 1.5957691216057308F, kCubic = 0.044715F;
  for (std::int64_t i = 0; i < v.rows; ++i) {
    float* const row = v.begin + i * v.stride;
#pragma omp simd
    for (std::int64_t j = 0; j < v.columns; ++j)
      row[j] /= 1.0F + fast_exp(-kTwoRoot2OverPi * row[j] * (1.0F + kCubic * row[j] * row[j]));
  }
}

// `to` and `residual`, which may be the same or nullptr, have rows `stride` elements apart.
template <class T>
PODIUM_SIMD_CLONES void store(const TileValues& v, const T* residual, T* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    const float* const row = v.begin + i * v.stride;
    const T* const added = residual + i * stride;
    T* const y = to + i * stride;
    if (residual == nullptr) {
#pragma omp simd
      for (std::int64_t j = 0; j < v.columns; ++j) y[j] = from_float<T>(row[j]);
    } else {
#pragma omp simd
      for (std::int64_t j = 0; j < v.columns; ++j) y[j] = from_float<T>(row[j] + to_float(added[j]));
    }
  }
}

template <class Q>
PODIUM_SIMD_CLONES void store_quantised(const TileValues& v, float inverse_scale, Q* to,
                                        std::int64_t stride) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    const float* const row = v.begin + i * v.stride;
    Q* const y = to + i * stride;
#pragma omp simd
    for (std::int64_t j = 0; j < v.columns; ++j) y[j] = quantised<Q>(row[j] * inverse_scale);
  }
}

}  // namespace

void finish_tile(const InferenceWeight& weight, const InferenceEpilogue& epilogue, const Tile& tile,
                 float* sums, std::int64_t stride, TensorView y) {
  const TileValues v{sums, stride, tile.rows, tile.columns};
  const auto part = [&](const ConstTensorView& vector) {
    return vector.address == nullptr ? nullptr : vector.data<float>() + tile.column;
  };
  const float* const scales = part(weight.scales);
  const float* const bias = part(weight.bias);
  if (scales != nullptr || bias != nullptr) scale_and_shift(v, scales, bias);
  if (epilogue.activation == Activation::gelu) activate_gelu(v);
  if (epilogue.activation == Activation::gelu_tanh) activate_gelu_tanh(v);
  const std::int64_t y_stride = y.shape[1], first = tile.row * y_stride + tile.column;
  if (is_quantised(y.dtype)) {
    return with_quantised_type(y.dtype, [&]<class Q>(Type<Q>) {
      store_quantised(v, 1.0F / epilogue.y_scale, y.data<Q>() + first, y_stride);
    });
  }
  with_float_type(y.dtype, [&]<class T>(Type<T>) {
    const bool has_residual = epilogue.residual.address != nullptr;
    store(v, has_residual ? epilogue.residual.data<T>() + first : nullptr, y.data<T>() + first, y_stride);
  });
}

}  // namespace podium::ops::cpu
