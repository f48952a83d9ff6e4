#include "worker/ops/cpu/magnitude.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"
#include "worker/tensor/dtype.h"

namespace podium::ops::cpu {
namespace {

constexpr std::int64_t kShare = 1024;  // of a thread at least

template <class T>
PODIUM_SIMD_CLONES std::uint32_t largest_in_range(const T* x, std::int64_t count) {
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(to_float(x[i])) & 0x7fffffffU;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

}  // namespace

template <class T>
std::uint32_t largest_magnitude(const T* x, std::int64_t count) {
  return largest_in_range(x, count);
}

template <class T>
std::uint32_t largest_magnitude(const T* x, std::int64_t count, int threads) {
  std::vector<std::uint32_t> largest(static_cast<std::size_t>(threads));
  parallel_ranges(threads, count, kShare, [&](Range range, int thread) {
    largest[static_cast<std::size_t>(thread)] = largest_in_range(x + range.begin, range.end - range.begin);
  });
  return *std::ranges::max_element(largest);
}

template std::uint32_t largest_magnitude(const float*, std::int64_t);
template std::uint32_t largest_magnitude(const BFloat16*, std::int64_t);
template std::uint32_t largest_magnitude(const Float16*, std::int64_t);
template std::uint32_t largest_magnitude(const float*, std::int64_t, int);
template std::uint32_t largest_magnitude(const BFloat16*, std::int64_t, int);
template std::uint32_t largest_magnitude(const Float16*, std::int64_t, int);

}  // namespace podium::ops::cpu
