// The dropout draws: Philox4x32-10 over 16 counters at once. Draw d of a block is half d / 16 % 2 of word d /
// 32 of the counter (16 * block + d % 16, row, row >> 32, site), whatever the instruction set.
#include "worker/ops/cpu/dropout.h"
#include "worker/ops/cpu/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace podium::ops::cpu {
namespace {

constexpr int kLanes = 16;  // 4 words of 2 draws each from 16 counters make a block of 128
constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;

PODIUM_SIMD_CLONES void draw_portable(PhiloxKey key, std::uint32_t site, std::uint64_t row,
                                      std::uint32_t first, std::uint16_t* out) {
  std::uint32_t words[4][kLanes];
#pragma omp simd
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const PhiloxCounter draws = philox(
        key, {first + lane, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32), site});
    for (std::size_t word = 0; word < 4; ++word) words[word][lane] = draws[word];
  }
  for (int word = 0; word < 4; ++word) {
    for (int lane = 0; lane < kLanes; ++lane) {
      out[word * 32 + lane] = static_cast<std::uint16_t>(words[word][lane]);
      out[word * 32 + 16 + lane] = static_cast<std::uint16_t>(words[word][lane] >> 16);
    }
  }
}

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl")

// Eight counters, one in each 64-bit lane; upper halves hold rubbish, which the 32-bit multiply does not
// read.
struct Lanes {
  __m512i c0, c1, c2, c3;
};

inline void philox_round(Lanes& c, __m512i k0, __m512i k1) {
  constexpr int kXor3 = 0x96;
  const __m512i p0 = _mm512_mul_epu32(c.c0, _mm512_set1_epi64(kMultiplier0));
  const __m512i p1 = _mm512_mul_epu32(c.c2, _mm512_set1_epi64(kMultiplier1));
  c.c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c.c1, k0, kXor3);
  c.c1 = p1;
  c.c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c.c3, k1, kXor3);
  c.c3 = p0;
}

// The 32 draws of one word of all sixteen counters.
inline void store_word(__m512i low, __m512i high, std::uint16_t* out) {
  const __m512i words =
      _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)), _mm512_cvtepi64_epi32(high), 1);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi32_epi16(words));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16),
                      _mm512_cvtepi32_epi16(_mm512_srli_epi32(words, 16)));
}

// The compiler's own vectorisation multiplies 64 by 64 bits here, which takes more than twice as long.
void draw_avx512(PhiloxKey key, std::uint32_t site, std::uint64_t row, std::uint32_t first,
                 std::uint16_t* out) {
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  Lanes low{_mm512_add_epi64(_mm512_set1_epi64(first), lanes),
            _mm512_set1_epi64(static_cast<std::uint32_t>(row)),
            _mm512_set1_epi64(static_cast<std::uint32_t>(row >> 32)), _mm512_set1_epi64(site)};
  Lanes high = low;
  high.c0 = _mm512_add_epi64(low.c0, _mm512_set1_epi64(8));
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const __m512i k0 = _mm512_set1_epi64(key.low), k1 = _mm512_set1_epi64(key.high);
    philox_round(low, k0, k1);
    philox_round(high, k0, k1);
    key.low += kKeyStep0;
    key.high += kKeyStep1;
  }
  store_word(low.c0, high.c0, out);
  store_word(low.c1, high.c1, out + 32);
  store_word(low.c2, high.c2, out + 64);
  store_word(low.c3, high.c3, out + 96);
}

#pragma GCC pop_options

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl");
  return has;
}

#endif

}  // namespace

void draw(const Dropout& dropout, std::uint64_t row, std::int64_t block, std::int64_t blocks,
          std::uint16_t* out) {
#if defined(__x86_64__)
  const auto draw_block = has_avx512() ? draw_avx512 : draw_portable;
#else
  const auto draw_block = draw_portable;
#endif
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto first = static_cast<std::uint32_t>((block + b) * kLanes);
    draw_block(dropout.key.value, dropout.site, row, first, out + b * kDrawBlock);
  }
}

}  // namespace podium::ops::cpu
