#include "bench/inference/peak.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace podium {
namespace {

#if defined(__x86_64__)

constexpr int kSums = 24;  // more than hide the latency of two instructions a cycle
constexpr std::int64_t kRounds = 4'000'000;
constexpr int kRuns = 5;  // of which the fastest counts

// Adds a product to each of the sums in turn, `rounds` times over; `instruction` names operands
// %0 (sum), %1 and %2 (factors).
#define PODIUM_PEAK_LOOP(name, features, instruction)                                          \
  __attribute__((target(features))) void name(std::int64_t rounds) {                           \
    __m512i sums[kSums];                                                                       \
    _Pragma("GCC unroll 24") for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_si512(); \
    const __m512i factor = _mm512_setzero_si512();                                             \
    for (std::int64_t round = 0; round < rounds; ++round) {                                    \
      _Pragma("GCC unroll 24") for (int i = 0; i < kSums; ++i) asm volatile(                   \
          instruction : "+v"(sums[i]) : "v"(factor), "v"(factor));                             \
    }                                                                                          \
  }
PODIUM_PEAK_LOOP(floats, "avx512f", "vfmadd231ps %2, %1, %0")
PODIUM_PEAK_LOOP(brain_floats, "avx512f", "vdpbf16ps %2, %1, %0")
PODIUM_PEAK_LOOP(integers, "avx512f", "vpdpbusd %2, %1, %0")
#undef PODIUM_PEAK_LOOP

struct Loop {
  void (*run)(std::int64_t rounds) = nullptr;
  std::int64_t operations = 0;  // of one instruction
};

Loop loop_of(DType type) {
  if (type == DType::f32 && __builtin_cpu_supports("avx512f")) return {floats, 2 * 16};
  if (type == DType::bf16 && __builtin_cpu_supports("avx512bf16")) return {brain_floats, 4 * 16};
  if (type == DType::i8 && __builtin_cpu_supports("avx512vnni")) return {integers, 8 * 16};
  return {};
}

// Of processor time, a thread: the loop waits for nothing, and others may use the machine, too.
double seconds_of(const Loop& loop, int threads) {
  const std::clock_t before = std::clock();
#pragma omp parallel num_threads(threads)
  loop.run(kRounds);
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / threads;
}

#endif

}  // namespace

double peak_operations(DType type, int threads) {
#if defined(__x86_64__)
  const Loop loop = loop_of(type);
  if (loop.run == nullptr) return 0;
  double best = seconds_of(loop, threads);
  for (int run = 1; run < kRuns; ++run) best = std::min(best, seconds_of(loop, threads));
  return static_cast<double>(kRounds * kSums * loop.operations) * threads / best;
#else
  return 0;
#endif
}

}  // namespace podium
