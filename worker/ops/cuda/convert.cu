// A thread converts eight neighbouring values.
#include <bit>

#include "worker/ops/cuda/convert.h"
#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) narrow_kernel(const float* from, std::int64_t count, T* to) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kVector;
  if (at >= count) return;
  float values[kVector];
  load(from, at, count, values);
  store(to, at, count, values);
}

template <class T>
__device__ T stochastically(float value, std::uint32_t draw);
template <>
__device__ __forceinline__ __nv_bfloat16 stochastically<__nv_bfloat16>(float value, std::uint32_t draw) {
  return std::bit_cast<__nv_bfloat16>(stochastic_bfloat16(value, draw));
}
template <>
__device__ __forceinline__ __half stochastically<__half>(float value, std::uint32_t draw) {
  return std::bit_cast<__half>(stochastic_float16(value, draw));
}

// A thread rounds eight neighbouring values of a row, where they are also eight neighbours from a multiple of
// eight of the whole parameter on with one draw of 128 bits.
template <class T>
__global__ void __launch_bounds__(kThreads)
    narrow_stochastically_kernel(const float* from, std::int64_t columns, PhiloxKey key, RoundedPart part,
                                 T* to) {
  static_assert(kVector == kRoundedTogether);
  const std::int64_t groups = (columns + kVector - 1) / kVector;
  const std::int64_t number = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::int64_t row = number / groups, column = number % groups * kVector;
  if (row >= part.rows) return;
  const std::int64_t element = part.first + row * part.pitch + column;
  const float* const values = from + row * columns;
  T* const rounded = to + row * columns;
  if (element % kVector == 0 && columns % kVector == 0) {
    const PhiloxCounter draws = rounding_draws(key, part.parameter, element);
    float loaded[kVector];
    load(values, column, columns, loaded);
    Pack<T> pack;
#pragma unroll
    for (int i = 0; i < kVector; ++i) pack.values[i] = stochastically<T>(loaded[i], rounding_draw(draws, i));
    *reinterpret_cast<Pack<T>*>(rounded + column) = pack;
    return;
  }
#pragma unroll 1
  for (int i = 0; i < kVector && column + i < columns; ++i) {
    const auto place = static_cast<int>((element + i) % kVector);
    rounded[column + i] = stochastically<T>(
        values[column + i], rounding_draw(rounding_draws(key, part.parameter, element + i), place));
  }
}

template <class T>
void narrow_part(Context& context, const float* from, std::int64_t columns, PhiloxKey key,
                 const RoundedPart& part, T* to) {
  const std::int64_t groups = part.rows * ((columns + kVector - 1) / kVector);
  if (groups == 0) return;
  launch(context, "narrow_stochastically", narrow_stochastically_kernel<T>,
         static_cast<unsigned>((groups + kThreads - 1) / kThreads), kThreads, 0, from, columns, key, part,
         to);
}

}  // namespace

void narrow_stochastically(Context& context, ConstTensorView matrix, const StochasticRounding& rounding,
                           void* to, DType type) {
  const std::int64_t columns = matrix.shape[1];
  std::int64_t begin = 0;
  for (const RoundedPart& part : rounding.parts) {
    const float* const from = elements<float>(matrix) + begin;
    if (type == DType::bf16)
      narrow_part(context, from, columns, rounding.key, part, static_cast<__nv_bfloat16*>(to) + begin);
    else
      narrow_part(context, from, columns, rounding.key, part, static_cast<__half*>(to) + begin);
    begin += part.rows * columns;
  }
}

void narrow(Context& context, const float* from, std::int64_t count, void* to, DType type) {
  if (count == 0) return;
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kVector;
  const auto blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  with_device_type(type, [&]<class T>(Type<T>) {
    launch(context, "narrow", narrow_kernel<T>, blocks, kThreads, 0, from, count, static_cast<T*>(to));
  });
}

}  // namespace podium::ops::cuda
