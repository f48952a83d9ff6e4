// One block's tile of an inference product in shared memory, and a warp's products with it.
//
// A slab is as much of the inputs as 128 bytes of a weight's row hold: 64 inputs of 16 bits or 128 of 8,
// twice as many where the weight is 2:4 sparse. A stage holds one slab: the weight's panel [kOut][128 bytes],
// x's one panel [kRows][128 bytes], or two of them beside a sparse weight, and its metadata. A slab is four
// steps of mma.cuh or sparse_mma.cuh.
//
// The 16-byte chunks of a panel's row r lie at the places c ^ (r % 8), so that one chunk of eight
// neighbouring rows lies in eight different groups of banks: neither ldmatrix nor cp.async meets a bank
// conflict.
#pragma once

#include <algorithm>
#include <type_traits>

#include "worker/ops/cuda/async_copy.cuh"
#include "worker/ops/cuda/inference/sparse_mma.cuh"
#include "worker/ops/cuda/ldmatrix.cuh"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/cuda/widen.cuh"
#include "worker/tensor/dtype.h"

namespace podium::ops::cuda {

inline constexpr int kPanelBytes = 128;  // of a row
inline constexpr int kChunkBytes = 16;
inline constexpr int kSteps = 4;  // of a slab

// Metadata of a slab for 16 rows of a sparse weight: a register of 32 lanes for each step, of 16-bit types
// for each two.
template <class T>
inline constexpr int kMetadataWords = sizeof(T) == 2 ? 64 : 128;

// kWarpsOut x kWarpsRows warps share the tile, and kWarpsDepth times as many the steps of each slab.
template <int kOut_, int kRows_, int kWarpsOut, int kWarpsRows, int kWarpsDepth_, int kStages_>
struct TileShape {
  static constexpr int kOut = kOut_, kRows = kRows_, kWarpsDepth = kWarpsDepth_, kStages = kStages_;
  static constexpr int kThreads = 32 * kWarpsOut * kWarpsRows * kWarpsDepth;
  static constexpr int kWarpOut = kOut / kWarpsOut, kWarpRows = kRows / kWarpsRows;
  static constexpr int kOutTiles = kWarpOut / 16, kRowTiles = kWarpRows / 8;  // fragments of a warp
  static constexpr int kRowWarps = kWarpsRows, kOutWarps = kWarpsOut;
  static_assert(kWarpOut % 16 == 0 && kWarpRows % 16 == 0 && kSteps % kWarpsDepth == 0);
};

template <class T_, bool kSparse_, class Shape>
struct Tile : Shape {
  using T = T_;
  using Sum = MmaSum<T>;
  static constexpr bool kSparse = kSparse_;
  static constexpr int kXPanels = kSparse ? 2 : 1;
  static constexpr int kWeightBytes = Shape::kOut * kPanelBytes;
  static constexpr int kXBytes = kXPanels * Shape::kRows * kPanelBytes;
  static constexpr int kMetadataBytes = kSparse ? Shape::kOut / 16 * kMetadataWords<T> * 4 : 0;
  static constexpr int kStageBytes = kWeightBytes + kXBytes + kMetadataBytes;
  // Sums go through shared memory as [kWarpsDepth][kRows][kSumStride]: with four words more than the outputs,
  // the lanes of a fragment meet no bank conflict.
  static constexpr int kSumStride = Shape::kOut + 4;
  static constexpr int kSumBytes = Shape::kWarpsDepth * Shape::kRows * kSumStride * 4;
  static constexpr int kSharedBytes = std::max(Shape::kStages * kStageBytes, kSumBytes);
};

// What of the tile the calling thread's warp multiplies.
struct WarpPlace {
  int lane, out, row, depth;
};

template <class Tile>
__device__ __forceinline__ WarpPlace warp_place() {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  return {static_cast<int>(threadIdx.x) % 32, warp % Tile::kOutWarps * Tile::kWarpOut,
          warp / Tile::kOutWarps % Tile::kRowWarps * Tile::kWarpRows,
          warp / (Tile::kOutWarps * Tile::kRowWarps)};
}

// All threads of the block start to copy 128 bytes of kRows rows of a matrix whose rows have `pitch` bytes;
// what lies beyond its rows and columns becomes zero.
template <int kThreads, int kRows>
__device__ __forceinline__ void copy_panel(unsigned char* panel, const unsigned char* matrix, int first_row,
                                           int rows, int first_byte, int pitch) {
  constexpr int kChunks = kPanelBytes / kChunkBytes;
  static_assert(kRows * kChunks % kThreads == 0);
  const int chunk = static_cast<int>(threadIdx.x) % kChunks;
  const int byte = first_byte + chunk * kChunkBytes;
#pragma unroll
  for (int i = 0; i < kRows; i += kThreads / kChunks) {
    const int row = i + static_cast<int>(threadIdx.x) / kChunks;
    copy_async<16>(panel + row * kPanelBytes + (chunk ^ row % 8) * kChunkBytes,
                   matrix + std::int64_t{first_row + row} * pitch + byte,
                   first_row + row < rows && byte < pitch);
  }
}

// The 16 bytes that the calling lane hands to ldmatrix: chunk `chunk` of row `row`, where row % 8 is lane
// % 8.
__device__ __forceinline__ const unsigned char* chunk_at(const unsigned char* panel, int row, int chunk,
                                                         int lane) {
  return panel + row * kPanelBytes + (chunk ^ lane % 8) * kChunkBytes;
}

// What one step's products take of the weight and of x. Those of e4m3 are two products of f16: the first of
// each 32 bits' lower two elements and then of its upper two, in place of neighbouring columns, and the
// second the same 16 bytes further on; a sum does not mind the order of its terms.
template <class Tile>
struct StepOperands {
  using T = typename Tile::T;
  static constexpr bool kWidens = std::is_same_v<T, Float8E4M3>;
  static constexpr int kProducts = kWidens ? 2 : 1;
  using Factor = std::conditional_t<kWidens, __half, T>;
  using Rows = std::conditional_t<Tile::kSparse, MmaSparseB, MmaB>;

  MmaA weight[Tile::kOutTiles][kProducts];
  Rows rows[Tile::kRowTiles][kProducts];
};

template <class Tile>
__device__ __forceinline__ void load_weight(const unsigned char* stage, const WarpPlace& warp, int step,
                                            StepOperands<Tile>& operands) {
#pragma unroll
  for (int m = 0; m < Tile::kOutTiles; ++m) {
    std::uint32_t words[4];
    load_matrices(chunk_at(stage, warp.out + 16 * m + warp.lane % 16, 2 * step + warp.lane / 16, warp.lane),
                  words);
    if constexpr (StepOperands<Tile>::kWidens) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        operands.weight[m][i] = {widen_e4m3(words[2 * i]), widen_e4m3(words[2 * i + 1]),
                                 widen_e4m3(words[2 * i] >> 16), widen_e4m3(words[2 * i + 1] >> 16)};
    } else {
      operands.weight[m][0] = {words[0], words[1], words[2], words[3]};
    }
  }
}

// Of a sparse product of f16 a lane holds two rows of each four, where of 8 bits it has loaded all four of
// every other: it trades halves with its neighbour. words: of 16-byte chunks that follow each other.
__device__ __forceinline__ MmaSparseB widen_sparse_rows(std::uint32_t first, std::uint32_t second, int lane) {
  const std::uint32_t lower = (first & 0xffffU) | second << 16, upper = first >> 16 | (second & 0xffff0000U);
  const bool is_even = lane % 2 == 0;
  const std::uint32_t kept = is_even ? lower : upper;
  const std::uint32_t received = __shfl_xor_sync(kAllLanes, is_even ? upper : lower, 1);
  const std::uint32_t even = is_even ? kept : received, odd = is_even ? received : kept;  // groups of four
  return {widen_e4m3(even), widen_e4m3(even >> 16), widen_e4m3(odd), widen_e4m3(odd >> 16)};
}

template <class Tile>
__device__ __forceinline__ void load_sparse_rows(const unsigned char* x, const WarpPlace& warp, int step,
                                                 StepOperands<Tile>& operands) {
  const unsigned char* const panel = x + step / 2 * Tile::kRows * kPanelBytes;  // a step has half a panel
#pragma unroll
  for (int n = 0; n < Tile::kRowTiles; ++n) {
    std::uint32_t words[4];
    load_matrices(chunk_at(panel, warp.row + 8 * n + warp.lane % 8, step % 2 * 4 + warp.lane / 8, warp.lane),
                  words);
    if constexpr (StepOperands<Tile>::kWidens) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        operands.rows[n][i] = widen_sparse_rows(words[2 * i], words[2 * i + 1], warp.lane);
    } else {
      operands.rows[n][0] = {words[0], words[1], words[2], words[3]};
    }
  }
}

template <class Tile>
__device__ __forceinline__ void load_dense_rows(const unsigned char* x, const WarpPlace& warp, int step,
                                                StepOperands<Tile>& operands) {
#pragma unroll
  for (int n = 0; n < Tile::kRowTiles; n += 2) {
    std::uint32_t words[4];  // two for each of eight rows
    load_matrices(chunk_at(x, warp.row + 8 * n + warp.lane / 16 * 8 + warp.lane % 8,
                           2 * step + warp.lane / 8 % 2, warp.lane),
                  words);
#pragma unroll
    for (int eight = 0; eight < 2; ++eight) {
      auto& rows = operands.rows[n + eight];
      if constexpr (StepOperands<Tile>::kWidens) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          rows[i] = {widen_e4m3(words[2 * eight + i]), widen_e4m3(words[2 * eight + i] >> 16)};
      } else {
        rows[0] = {words[2 * eight], words[2 * eight + 1]};
      }
    }
  }
}

// The metadata of a step's product with 16 outputs, as sparse.h orders it. Of a product of f16 the
// upper two lanes of each four hold the next product's, and sparsity selector 0 does not look at them.
template <class Tile>
__device__ __forceinline__ std::uint32_t load_metadata(const unsigned char* stage, const WarpPlace& warp,
                                                       int step, int m, int product) {
  using T = typename Tile::T;
  const auto* const words =
      reinterpret_cast<const std::uint32_t*>(stage + Tile::kWeightBytes + Tile::kXBytes) +
      (warp.out / 16 + m) * kMetadataWords<T>;
  const int half_lane = warp.lane / 4 * 4 + warp.lane % 2;
  if constexpr (sizeof(T) == 2) {
    return words[step / 2 * 32 + half_lane + step % 2 * 2];
  } else if constexpr (StepOperands<Tile>::kWidens) {
    return words[step * 32 + half_lane + product * 2];
  } else {
    return words[step * 32 + warp.lane];
  }
}

template <class Tile>
using TileSums = MmaSumsOf<typename Tile::Sum>[Tile::kOutTiles][Tile::kRowTiles];

// sums += the warp's part of the slab in `stage`.
template <class Tile>
__device__ __forceinline__ void multiply_slab(const unsigned char* stage, const WarpPlace& warp,
                                              TileSums<Tile>& sums) {
  using Operands = StepOperands<Tile>;
  using Factor = typename Operands::Factor;
#pragma unroll
  for (int i = 0; i < kSteps / Tile::kWarpsDepth; ++i) {
    const int step = warp.depth * (kSteps / Tile::kWarpsDepth) + i;
    Operands operands;
    load_weight<Tile>(stage, warp, step, operands);
    if constexpr (Tile::kSparse) {
      load_sparse_rows<Tile>(stage + Tile::kWeightBytes, warp, step, operands);
    } else {
      load_dense_rows<Tile>(stage + Tile::kWeightBytes, warp, step, operands);
    }
#pragma unroll
    for (int product = 0; product < Operands::kProducts; ++product) {
#pragma unroll
      for (int m = 0; m < Tile::kOutTiles; ++m) {
        const MmaA& weight = operands.weight[m][product];
        std::uint32_t metadata = 0;
        if constexpr (Tile::kSparse) metadata = load_metadata<Tile>(stage, warp, step, m, product);
#pragma unroll
        for (int n = 0; n < Tile::kRowTiles; ++n) {
          if constexpr (Tile::kSparse) {
            mma_sparse<Factor>(weight, operands.rows[n][product], metadata, sums[m][n]);
          } else {
            mma<Factor>(weight, operands.rows[n][product], sums[m][n]);
          }
        }
      }
    }
  }
}

// The warp's sums to its place in shared memory, where no stage may be read any more.
template <class Tile>
__device__ __forceinline__ void store_sums(const WarpPlace& warp, const TileSums<Tile>& sums,
                                           typename Tile::Sum* shared) {
  auto* const mine = shared + (warp.depth * Tile::kRows + warp.row + warp.lane % 4 * 2) * Tile::kSumStride +
                     warp.out + warp.lane / 4;
#pragma unroll
  for (int m = 0; m < Tile::kOutTiles; ++m) {
#pragma unroll
    for (int n = 0; n < Tile::kRowTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        mine[(8 * n + e % 2) * Tile::kSumStride + 16 * m + e / 2 * 8] = sums[m][n].values[e];
    }
  }
}

}  // namespace podium::ops::cuda
