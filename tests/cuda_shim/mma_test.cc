// The emulated tensor-core product against a plain one, through the fragments as the PTX manual lays them
// out.
#include "worker/ops/cuda/mma.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "worker/tensor/random.h"

namespace podium::ops::cuda {
namespace {

constexpr int kM = 16, kN = 8, kK = 16;

template <class T>
std::uint32_t pack(T low, T high) {
  return std::uint32_t{high.stored.bits} << 16 | low.stored.bits;
}

template <class T>
__global__ void multiply(const T* a, const T* b, float* d) {  // a [16, 16], b [16, 8], d [16, 8]
  const int g = static_cast<int>(threadIdx.x) / 4, p = static_cast<int>(threadIdx.x) % 4 * 2;
  const auto left = [&](int row, int column) { return pack(a[row * kK + column], a[row * kK + column + 1]); };
  const auto right = [&](int row, int column) {
    return pack(b[row * kN + column], b[(row + 1) * kN + column]);
  };
  MmaSums sums;
  for (int half = 0; half < 2; ++half) {
    sums.values[2 * half] = d[(g + 8 * half) * kN + p];
    sums.values[2 * half + 1] = d[(g + 8 * half) * kN + p + 1];
  }
  mma<T>({left(g, p), left(g + 8, p), left(g, p + 8), left(g + 8, p + 8)}, {right(p, g), right(p + 8, g)},
         sums);
  for (int half = 0; half < 2; ++half) {
    d[(g + 8 * half) * kN + p] = sums.values[2 * half];
    d[(g + 8 * half) * kN + p + 1] = sums.values[2 * half + 1];
  }
}

template <class T, class Half>
void check() {
  Random random(1, 2);
  const auto draw = [&] {
    return static_cast<float>(random.below(17)) - 8.0F;
  };  // every product and sum is exact
  std::vector<T> a(kM * kK), b(kK * kN);
  std::vector<float> d(kM * kN);
  for (T& value : a) value.stored = from_float<Half>(draw());
  for (T& value : b) value.stored = from_float<Half>(draw());
  for (float& value : d) value = draw();
  std::vector<float> expected = d;
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j)
      for (int k = 0; k < kK; ++k)
        expected[static_cast<std::size_t>(i * kN + j)] +=
            to_float(a[static_cast<std::size_t>(i * kK + k)].stored) *
            to_float(b[static_cast<std::size_t>(k * kN + j)].stored);
  const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
  ASSERT_EQ(cudaLaunchKernelEx(&config, multiply<T>, a.data(), b.data(), d.data()), cudaSuccess);
  EXPECT_EQ(d, expected);
}

TEST(Mma, MultipliesBfloat16) { check<__nv_bfloat16, BFloat16>(); }
TEST(Mma, MultipliesHalf) { check<__half, Float16>(); }

}  // namespace
}  // namespace podium::ops::cuda
