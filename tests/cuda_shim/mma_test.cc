// The emulated tensor-core product against a plain one, through the fragments as the PTX manual lays them
// out.
#include "worker/ops/cuda/mma.cuh"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "worker/ops/cuda/ldmatrix.cuh"
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

// Every lane hands in a row of `matrices` [4, 8, 8] and hands on what it receives, `words` [32, 4].
__global__ void load_four(const std::uint16_t* matrices, bool transposed, std::uint32_t* words) {
  __shared__ __align__(16) std::uint16_t rows[4 * 8 * 8];
  for (unsigned i = threadIdx.x; i < 4 * 8 * 8; i += 32) rows[i] = matrices[i];
  __syncwarp();
  std::uint32_t received[4];
  if (transposed) {
    load_matrices_transposed(rows + 8 * threadIdx.x, received);
  } else {
    load_matrices(rows + 8 * threadIdx.x, received);
  }
  for (int m = 0; m < 4; ++m) words[4 * threadIdx.x + m] = received[m];
}

TEST(Ldmatrix, HandsOutElementsAsThePtxManualSays) {
  std::vector<std::uint16_t> matrices(4 * 8 * 8);
  std::iota(matrices.begin(), matrices.end(), std::uint16_t{0});
  const auto element = [](unsigned m, unsigned row, unsigned column) { return 64 * m + 8 * row + column; };
  for (const bool transposed : {false, true}) {
    std::vector<std::uint32_t> words(32 * 4);
    const cudaLaunchConfig_t config{1, 32, 0, nullptr, nullptr, 0};
    ASSERT_EQ(cudaLaunchKernelEx(&config, load_four, matrices.data(), transposed, words.data()), cudaSuccess);
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned m = 0; m < 4; ++m) {
        const unsigned g = lane / 4, p = lane % 4 * 2;
        const unsigned low = transposed ? element(m, p, g) : element(m, g, p);
        const unsigned high = transposed ? element(m, p + 1, g) : element(m, g, p + 1);
        EXPECT_EQ(words[4 * lane + m], high << 16 | low) << "lane " << lane << ", matrix " << m;
      }
    }
  }
}

TEST(Mma, MultipliesBfloat16) { check<__nv_bfloat16, BFloat16>(); }
TEST(Mma, MultipliesHalf) { check<__half, Float16>(); }

}  // namespace
}  // namespace podium::ops::cuda
