#include "worker/ops/cpu/panels.h"

#include <algorithm>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "common/base/check.h"
#include "worker/ops/cpu/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace podium::ops::cpu {

#if defined(__x86_64__)

namespace {

// One set for all types: only the functions that say so make the instructions for bf16 and i8.
#define PODIUM_AVX512 \
  __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16")))
#define PODIUM_AVX512_INLINE PODIUM_AVX512 PODIUM_INLINE

constexpr int kVectors = kPanelOutputs / 16;

struct SinglePrecision {
  using Sum = __m512;
  static constexpr std::int64_t kInputs = 1;
  static PODIUM_AVX512_INLINE Sum zero() { return _mm512_setzero_ps(); }
  static PODIUM_AVX512_INLINE Sum going_on(const float* sums) { return _mm512_loadu_ps(sums); }
  static PODIUM_AVX512_INLINE Sum multiply_add(Sum sum, __m512i w, __m512i x) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(w), _mm512_castsi512_ps(x), sum);
  }
  static PODIUM_AVX512_INLINE __m512 finished(Sum sum, std::int32_t /*x_sum*/) { return sum; }
};

struct BrainFloats {
  using Sum = __m512;
  static constexpr std::int64_t kInputs = 2;
  static PODIUM_AVX512_INLINE Sum zero() { return _mm512_setzero_ps(); }
  static PODIUM_AVX512_INLINE Sum going_on(const float* sums) { return _mm512_loadu_ps(sums); }
  static PODIUM_AVX512_INLINE Sum multiply_add(Sum sum, __m512i w, __m512i x) {
    return _mm512_dpbf16_ps(sum, (__m512bh)w, (__m512bh)x);
  }
  static PODIUM_AVX512_INLINE __m512 finished(Sum sum, std::int32_t /*x_sum*/) { return sum; }
};

struct Bytes {
  using Sum = __m512i;
  static constexpr std::int64_t kInputs = 4;
  static PODIUM_AVX512_INLINE Sum zero() { return _mm512_setzero_si512(); }
  static PODIUM_AVX512_INLINE Sum going_on(const float* /*sums*/) { return zero(); }
  static PODIUM_AVX512_INLINE Sum multiply_add(Sum sum, __m512i w, __m512i x) {
    return _mm512_dpbusd_epi32(sum, w, x);
  }
  static PODIUM_AVX512_INLINE __m512 finished(Sum sum, std::int32_t x_sum) {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(128 * x_sum)));
  }
};

// Fetches a share of the next panel before every 32 words, so that memory is never asked for much at once.
class NextPanel {
 public:
  static constexpr std::int64_t kEvery = 32;

  PODIUM_AVX512_INLINE NextPanel(const TileTask& task, std::int64_t words)
      : at_(task.next), end_(task.next + task.next_bytes) {
    const std::int64_t pieces = (words + kEvery - 1) / kEvery, lines = (task.next_bytes + 63) / 64;
    lines_ = pieces == 0 ? 0 : (lines + pieces - 1) / pieces;
  }
  PODIUM_AVX512_INLINE void fetch() {
    for (std::int64_t line = 0; line < lines_ && at_ < end_; ++line, at_ += 64)
      _mm_prefetch(reinterpret_cast<const char*>(at_), _MM_HINT_T1);
  }

 private:
  const std::byte* at_;
  const std::byte* end_;
  std::int64_t lines_;
};

template <class Kind, int kRows>
PODIUM_AVX512_INLINE void multiply_word(const std::byte* panel, const std::byte* const* x,
                                        std::int64_t offset, typename Kind::Sum (&sums)[kRows][kVectors]) {
  __m512i w[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) w[v] = _mm512_loadu_si512(panel + 64 * v);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    std::int32_t word;
    std::memcpy(&word, x[r] + offset, sizeof(word));
    const __m512i all = _mm512_set1_epi32(word);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = Kind::multiply_add(sums[r][v], w[v], all);
  }
}

template <class Kind, int kRows>
PODIUM_AVX512 void multiply_rows(const TileTask& task) {
  typename Kind::Sum sums[kRows][kVectors];
  const std::byte* x[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    x[r] = task.x.begin + r * task.x.stride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[r][v] = task.accumulate ? Kind::going_on(task.sums + r * task.sums_stride + 16 * v) : Kind::zero();
  }
  const std::int64_t words = task.in / Kind::kInputs;
  NextPanel next(task, words);
  for (std::int64_t begin = 0; begin < words; begin += NextPanel::kEvery) {
    const std::int64_t end = std::min(words, begin + NextPanel::kEvery);
    next.fetch();
    for (std::int64_t word = begin; word < end; ++word)
      multiply_word<Kind, kRows>(task.panel + word * kPanelWordBytes, x, word * kWordBytes, sums);
  }
  if (const std::int64_t left = task.in % Kind::kInputs; left > 0) {
    std::byte last[kRows][kWordBytes] = {};
    for (int r = 0; r < kRows; ++r) {
      std::memcpy(last[r], x[r] + words * kWordBytes,
                  static_cast<std::size_t>(left * kWordBytes / Kind::kInputs));
      x[r] = last[r];
    }
    multiply_word<Kind, kRows>(task.panel + words * kPanelWordBytes, x, 0, sums);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      _mm512_storeu_ps(task.sums + r * task.sums_stride + 16 * v,
                       Kind::finished(sums[r][v], task.x_sums == nullptr ? 0 : task.x_sums[r]));
}

template <class Kind>
void multiply(const TileTask& task) {
  using Function = void (*)(const TileTask&);
  constexpr Function kByRows[kTileRows] = {multiply_rows<Kind, 1>, multiply_rows<Kind, 2>,
                                           multiply_rows<Kind, 3>, multiply_rows<Kind, 4>,
                                           multiply_rows<Kind, 5>, multiply_rows<Kind, 6>};
  kByRows[task.rows - 1](task);
}

// to[j][i] = from[i][j] of 16 by 16 words, of which `count` rows are written; rows of `from` and `to` are so
// many bytes apart.
PODIUM_AVX512 void transpose_words(const std::byte* from, std::int64_t from_stride, std::int64_t count,
                                   __m512i flipped, std::byte* to) {
  __m512i a[16], b[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) a[i] = _mm512_xor_si512(_mm512_loadu_si512(from + i * from_stride), flipped);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // a[i + j]: word j of each quarter of rows i to i + 3
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i low = _mm512_shuffle_i32x4(a[j], a[4 + j], 0x88),
                  high = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0x88);
    const __m512i low_odd = _mm512_shuffle_i32x4(a[j], a[4 + j], 0xdd),
                  high_odd = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0xdd);
    b[j] = _mm512_shuffle_i32x4(low, high, 0x88);
    b[8 + j] = _mm512_shuffle_i32x4(low, high, 0xdd);
    b[4 + j] = _mm512_shuffle_i32x4(low_odd, high_odd, 0x88);
    b[12 + j] = _mm512_shuffle_i32x4(low_odd, high_odd, 0xdd);
  }
  for (std::int64_t j = 0; j < count; ++j) _mm512_storeu_si512(to + j * kPanelWordBytes, b[j]);
}

// Words of two halves, the lower from `first`; without a second the upper ones are zero.
PODIUM_SIMD_CLONES void interleave(const std::uint16_t* first, const std::uint16_t* second,
                                   std::int64_t count, std::uint32_t* words) {
  if (second == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) words[i] = first[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i)
      words[i] = first[i] | static_cast<std::uint32_t>(second[i]) << 16;
  }
}

}  // namespace

bool includes(dnnl::cpu_isa isa, dnnl::cpu_isa part) {
  const auto bits = static_cast<unsigned>(part);
  return (static_cast<unsigned>(isa) & bits) == bits;
}

bool panels_multiply(DType type) { return panels_multiply(type, dnnl::get_effective_cpu_isa()); }

bool panels_multiply(DType type, dnnl::cpu_isa isa) {
  switch (type) {
    case DType::f32:
      return includes(isa, dnnl::cpu_isa::avx512_core);
    case DType::bf16:
      return includes(isa, dnnl::cpu_isa::avx512_core_bf16);
    case DType::i8:
      return includes(isa, dnnl::cpu_isa::avx512_core_vnni);
    default:
      return false;
  }
}

PODIUM_AVX512 void pack_panel(DType type, const MatrixRows& w, std::int64_t outputs, std::int64_t in,
                              std::byte* panel) {
  constexpr std::int64_t kBlock = 64;  // bytes of 16 words
  const std::int64_t bytes = in * static_cast<std::int64_t>(size_of(type)), words = panel_words(type, in);
  const __m512i flipped = type == DType::i8 ? _mm512_set1_epi8(-128) : _mm512_setzero_si512();
  for (std::int64_t o = 0; o < kPanelOutputs; o += 16) {
    for (std::int64_t word = 0; word < words; word += 16) {
      const std::int64_t rows = std::clamp<std::int64_t>(outputs - o, 0, 16);
      const std::int64_t columns = std::min(kBlock, bytes - word * kWordBytes);
      const std::byte* from = w.begin + o * w.stride + word * kWordBytes;
      alignas(64) std::byte filled[16 * kBlock];
      std::int64_t stride = w.stride;
      if (rows < 16 || columns < kBlock) {
        std::fill(std::begin(filled), std::end(filled), std::byte{0});
        for (std::int64_t r = 0; r < rows; ++r)
          std::copy_n(from + r * w.stride, columns, filled + r * kBlock);
        from = filled;
        stride = kBlock;
      }
      transpose_words(from, stride, std::min<std::int64_t>(16, words - word), flipped,
                      panel + word * kPanelWordBytes + o * kWordBytes);
    }
  }
}

void pack_transposed_panel(DType type, const MatrixRows& w, std::int64_t outputs, std::int64_t in,
                           std::byte* panel) {
  PODIUM_CHECK(type == DType::f32 || type == DType::bf16, "panels of transposed matrices are of floats");
  for (std::int64_t word = 0; word < panel_words(type, in); ++word) {
    auto* const to = reinterpret_cast<std::uint32_t*>(panel + word * kPanelWordBytes);
    if (type == DType::f32) {
      std::memcpy(to, w.begin + word * w.stride, static_cast<std::size_t>(outputs) * sizeof(float));
    } else {
      const std::byte* const first = w.begin + 2 * word * w.stride;
      const bool has_second = 2 * word + 1 < in;
      interleave(reinterpret_cast<const std::uint16_t*>(first),
                 has_second ? reinterpret_cast<const std::uint16_t*>(first + w.stride) : nullptr, outputs,
                 to);
    }
    std::fill(to + outputs, to + kPanelOutputs, 0U);
  }
}

PODIUM_AVX512 void sum_rows(const MatrixRows& x, std::int64_t rows, std::int64_t in, std::int32_t* sums) {
  constexpr std::int64_t kBlock = 64;
  const __m512i ones = _mm512_set1_epi8(1);
  const __mmask64 last = (std::uint64_t{1} << in % kBlock) - 1;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::byte* const row = x.begin + r * x.stride;
    __m512i sum = _mm512_setzero_si512();
    std::int64_t k = 0;
    for (; k + kBlock <= in; k += kBlock) sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512(row + k));
    sum = _mm512_dpbusd_epi32(sum, ones, _mm512_maskz_loadu_epi8(last, row + k));
    sums[r] = _mm512_reduce_add_epi32(sum);
  }
}

void multiply_tile(DType type, const TileTask& task) {
  if (type == DType::f32) return multiply<SinglePrecision>(task);
  if (type == DType::bf16) return multiply<BrainFloats>(task);
  multiply<Bytes>(task);
}

#else

bool panels_multiply(DType /*type*/) { return false; }

// What nobody calls, since no type has panels.
void pack_panel(DType, const MatrixRows&, std::int64_t, std::int64_t, std::byte*) {}
void pack_transposed_panel(DType, const MatrixRows&, std::int64_t, std::int64_t, std::byte*) {}
void sum_rows(const MatrixRows&, std::int64_t, std::int64_t, std::int32_t*) {}
void multiply_tile(DType, const TileTask&) {}

#endif

}  // namespace podium::ops::cpu
