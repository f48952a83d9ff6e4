#include "worker/ops/cpu/dropout.h"

#include <algorithm>

#include "worker/ops/cpu/dispatch.h"
#include "worker/ops/cpu/parallel.h"
#include "worker/ops/cpu/simd.h"

namespace podium::ops::cpu {
namespace {

constexpr int kLanes = 16;  // counters computed together; 4 words of 2 draws each make a block of 128

template <class T>
PODIUM_SIMD_CLONES void mask_block(T* x, std::int64_t count, const std::uint16_t* draws,
                                   std::uint32_t threshold, float scale) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    x[i] = from_float<T>(draws[i] >= threshold ? to_float(x[i]) * scale : 0.0F);
  }
}

}  // namespace

// Draw d of a block is half h = (d / 16) % 2 of word d / 32 of the counter (16 * block + d % 16, row, row >>
// 32, site).
PODIUM_SIMD_CLONES void draw(const Dropout& dropout, std::uint64_t row, std::int64_t block,
                             std::int64_t blocks, std::uint16_t* out) {
  const std::uint32_t row_low = static_cast<std::uint32_t>(row);
  const std::uint32_t row_high = static_cast<std::uint32_t>(row >> 32);
  for (std::int64_t b = 0; b < blocks; ++b, out += kDrawBlock) {
    std::uint32_t words[4][kLanes];
    const std::uint32_t first = static_cast<std::uint32_t>((block + b) * kLanes);
#pragma omp simd
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      std::uint32_t c0 = first + lane, c1 = row_low, c2 = row_high, c3 = dropout.site;
      std::uint32_t k0 = dropout.key.low, k1 = dropout.key.high;
#pragma GCC unroll 10
      for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
        c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
        c1 = static_cast<std::uint32_t>(p1);
        c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c3 = static_cast<std::uint32_t>(p0);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
      }
      words[0][lane] = c0;
      words[1][lane] = c1;
      words[2][lane] = c2;
      words[3][lane] = c3;
    }
    for (int word = 0; word < 4; ++word) {
#pragma omp simd
      for (int lane = 0; lane < kLanes; ++lane) {
        out[word * 32 + lane] = static_cast<std::uint16_t>(words[word][lane]);
        out[word * 32 + 16 + lane] = static_cast<std::uint16_t>(words[word][lane] >> 16);
      }
    }
  }
}

void dropout(Context& context, TensorView x, const Dropout& dropout) {
  const std::int64_t columns = x.shape[1];
  with_float_type(x.dtype, [&]<class T>(Type<T>) {
    T* const data = x.data<T>();
    parallel_ranges(context.threads, x.shape[0], 1, [&](Range range, int) {
      std::uint16_t draws[kDrawBlock];
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        for (std::int64_t begin = 0; begin < columns; begin += kDrawBlock) {
          draw(dropout, dropout.first_row + static_cast<std::uint64_t>(row), begin / kDrawBlock, 1, draws);
          mask_block(data + row * columns + begin, std::min(kDrawBlock, columns - begin), draws,
                     dropout.threshold, dropout.scale);
        }
      }
    });
  });
}

}  // namespace podium::ops::cpu
