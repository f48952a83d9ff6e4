// Element types on the device and access to eight neighbouring elements at a time: one 16-byte access for a
// 16-bit type, two for f32. Arithmetic is in f32 throughout.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace podium::ops::cuda {

inline constexpr int kVector = 8;  // columns a thread handles together
inline constexpr unsigned kAllLanes = 0xffffffffU;

__device__ __forceinline__ float to_f32(float value) { return value; }
__device__ __forceinline__ float to_f32(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ __forceinline__ float to_f32(__half value) { return __half2float(value); }

template <class T>
__device__ __forceinline__ T from_f32(float value);
template <>
__device__ __forceinline__ float from_f32<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_f32<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ __forceinline__ __half from_f32<__half>(float value) {
  return __float2half_rn(value);
}

template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T values[kCount];
};

// Eight neighbouring elements as they lie in memory. What is widened only when it is wanted may still be
// under way when the next is loaded.
template <class T>
struct Raw {
  Pack<T> packs[kVector / Pack<T>::kCount];
};

// Elements [column, column + 8) of a row of `columns`; those beyond its end are 0. Rows must begin at a
// multiple of 16 bytes where `columns` is a multiple of 8, as rows of one tensor then do.
template <class T>
__device__ __forceinline__ Raw<T> load_raw(const T* row, std::int64_t column, std::int64_t columns) {
  constexpr int kCount = Pack<T>::kCount;
  Raw<T> raw{};
  if (columns % kVector == 0) {
    const auto* const packs = reinterpret_cast<const Pack<T>*>(row + column);
#pragma unroll
    for (int p = 0; p < kVector / kCount; ++p)
      if (column < columns) raw.packs[p] = packs[p];
    return raw;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i)
    if (column + i < columns) raw.packs[i / kCount].values[i % kCount] = row[column + i];
  return raw;
}

template <class T>
__device__ __forceinline__ void widen(const Raw<T>& raw, float (&out)[kVector]) {
  constexpr int kCount = Pack<T>::kCount;
#pragma unroll
  for (int i = 0; i < kVector; ++i) out[i] = to_f32(raw.packs[i / kCount].values[i % kCount]);
}

template <class T>
__device__ __forceinline__ void load(const T* row, std::int64_t column, std::int64_t columns,
                                     float (&out)[kVector]) {
  widen(load_raw(row, column, columns), out);
}

template <class T>
__device__ __forceinline__ void store(T* row, std::int64_t column, std::int64_t columns,
                                      const float (&in)[kVector]) {
  if (columns % kVector == 0 && column < columns) {
    auto* const packs = reinterpret_cast<Pack<T>*>(row + column);
#pragma unroll
    for (int p = 0; p < kVector / Pack<T>::kCount; ++p) {
      Pack<T> pack;
#pragma unroll
      for (int i = 0; i < Pack<T>::kCount; ++i) pack.values[i] = from_f32<T>(in[p * Pack<T>::kCount + i]);
      packs[p] = pack;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector; ++i)
    if (column + i < columns) row[column + i] = from_f32<T>(in[i]);
}

}  // namespace podium::ops::cuda
