// Conversion of a matrix to FP8 in two passes over memory: the first finds the largest magnitude, the second
// reads once more and writes the elements by rows, by columns or both. The scale never leaves the device, so
// that a recorded step (a CUDA graph) can be replayed.
//
// In the second a block of 256 threads takes a tile of 64 rows and 128 columns, a thread four rows of eight
// columns: it loads 16 bytes a row, writes its elements by rows straight from registers, and leaves each
// column's four elements as one word in shared memory, from which threads collect 16 neighbouring rows of a
// column.
#include <algorithm>

#include "worker/ops/cuda/dispatch.h"
#include "worker/ops/cuda/float8.cuh"
#include "worker/ops/cuda/reduce.cuh"
#include "worker/ops/cuda/state.h"
#include "worker/ops/float8.h"

namespace podium::ops::cuda {
namespace {

constexpr int kWarps = 8;
constexpr unsigned kThreads = kWarps * 32;

constexpr unsigned kMostParts = 512;  // whatever the device: two for each thread of the second pass
constexpr std::int64_t kLoads = 4;    // of a thread, under way together
constexpr std::int64_t kPart = kThreads * kVector * kLoads;

struct Larger {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

// As bits of an f32, among which a NaN's are the largest and infinity's the next.
__device__ __forceinline__ unsigned magnitude(float value) { return __float_as_uint(value) & 0x7fffffffU; }

template <class T>
__global__ void __launch_bounds__(kThreads)
    largest_magnitude_kernel(const T* x, std::int64_t count, unsigned* largest_of_part) {
  unsigned largest = 0;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kPart; first < count; first += gridDim.x * kPart) {
    float values[kLoads][kVector] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
      const std::int64_t at = first + (k * kThreads + threadIdx.x) * kVector;
      if (at < count) load(x, at, count, values[k]);
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) largest = Larger{}(largest, magnitude(values[k][i]));
    }
  }
  largest = reduce_block<kWarps>(largest, Larger{});
  if (threadIdx.x == 0) largest_of_part[blockIdx.x] = largest;
}

constexpr int kRowsOfThread = 4;
constexpr std::int64_t kTileRows = 64;
constexpr std::int64_t kTileColumns = 128;
constexpr unsigned kThreadsOfRow = kTileColumns / kVector;
constexpr unsigned kWordsOfColumn = kTileRows / kRowsOfThread;
constexpr unsigned kPitch =
    kWordsOfColumn + 1;   // words; odd, so that neighbouring columns lie in other banks
constexpr int kRun = 16;  // rows of a column that a thread writes
static_assert(kThreadsOfRow * kWordsOfColumn == kThreads);

struct Tile {
  unsigned words[kTileColumns][kPitch];  // of a column, four rows each
};

// Columns [column, column + 8) of rows [row, row + 4); what is beyond x is 0.
template <class T>
__device__ __forceinline__ void load_rows(const T* x, std::int64_t rows, std::int64_t columns,
                                          std::int64_t row, std::int64_t column,
                                          float (&values)[kRowsOfThread][kVector]) {
#pragma unroll
  for (int i = 0; i < kRowsOfThread; ++i)
    load(x + (row + i) * columns, column, row + i < rows ? columns : 0, values[i]);
}

// The largest magnitude that the first pass found.
__device__ __forceinline__ unsigned largest_of(const unsigned* largest_of_part, unsigned parts) {
  unsigned largest = 0;
  for (unsigned part = threadIdx.x; part < parts; part += kThreads)
    largest = Larger{}(largest, largest_of_part[part]);
  return reduce_block<kWarps>(largest, Larger{});
}

// The j-th of eight.
__device__ __forceinline__ unsigned element(const uint2& eight, int j) {
  return (j < 4 ? eight.x : eight.y) >> (j % 4 * 8) & 0xffU;
}

__device__ __forceinline__ void leave_columns(const uint2 (&elements)[kRowsOfThread], unsigned group,
                                              unsigned row_group, Tile& tile) {
#pragma unroll
  for (int j = 0; j < kVector; ++j) {
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) word |= element(elements[i], j) << (8 * i);
    tile.words[group * kVector + j][row_group] = word;
  }
}

__device__ __forceinline__ void write_columns(const Tile& tile, std::int64_t first_row,
                                              std::int64_t first_column, std::int64_t columns,
                                              std::int64_t pitch, std::uint8_t* by_columns) {
  constexpr unsigned kRunsOfColumn = kTileRows / kRun;
  constexpr unsigned kWords = kRun / kRowsOfThread;
#pragma unroll
  for (unsigned part = threadIdx.x; part < kTileColumns * kRunsOfColumn; part += kThreads) {
    const unsigned column = part / kRunsOfColumn, run = part % kRunsOfColumn;
    const std::int64_t row = first_row + run * kRun;
    if (first_column + column >= columns || row >= pitch) continue;
    const unsigned* const words = tile.words[column] + run * kWords;
    *reinterpret_cast<uint4*>(by_columns + (first_column + column) * pitch + row) =
        make_uint4(words[0], words[1], words[2], words[3]);
  }
}

struct Float8Output {
  std::uint8_t* by_rows;     // or null
  std::uint8_t* by_columns;  // or null
  std::int64_t pitch;        // of by_columns
  float* scale;
};

template <class T, class Element>
__global__ void __launch_bounds__(kThreads)
    to_float8_kernel(const T* x, std::int64_t rows, std::int64_t columns, const unsigned* largest_of_part,
                     unsigned parts, Float8Output out) {
  __shared__ Tile tile;
  const unsigned group = threadIdx.x % kThreadsOfRow, row_group = threadIdx.x / kThreadsOfRow;
  const std::int64_t first_row = blockIdx.y * kTileRows, first_column = blockIdx.x * kTileColumns;
  const std::int64_t row = first_row + row_group * kRowsOfThread, column = first_column + group * kVector;
  float values[kRowsOfThread][kVector];
  load_rows(x, rows, columns, row, column, values);  // on their way while the block agrees on the scale

  const Float8Scales scales = float8_scales(largest_of(largest_of_part, parts), Element::kLargest);
  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *out.scale = scales.divide;

  uint2 elements[kRowsOfThread];
#pragma unroll
  for (int i = 0; i < kRowsOfThread; ++i) elements[i] = float8_elements<Element>(values[i], scales.multiply);
  if (out.by_rows != nullptr && column < columns) {
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i)
      if (row + i < rows) *reinterpret_cast<uint2*>(out.by_rows + (row + i) * columns + column) = elements[i];
  }
  if (out.by_columns == nullptr) return;
  leave_columns(elements, group, row_group, tile);
  __syncthreads();
  write_columns(tile, first_row, first_column, columns, out.pitch, out.by_columns);
}

unsigned blocks_for(std::int64_t count, std::int64_t of_block) {
  return static_cast<unsigned>((count + of_block - 1) / of_block);
}

}  // namespace

void to_float8(Context& context, ConstTensorView x, const Float8Matrix& out) {
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  if (x.size() == 0) return;
  const unsigned parts = std::min(blocks_for(x.size(), kPart), kMostParts);
  auto* const largest = static_cast<unsigned*>(cuda_state(context).scratch(kMostParts * sizeof(unsigned)));
  const Float8Output to{
      static_cast<std::uint8_t*>(out.by_rows.address), static_cast<std::uint8_t*>(out.by_columns.address),
      out.by_columns.address != nullptr ? out.by_columns.shape[1] : 0, elements<float>(out.scale)};
  const dim3 grid(blocks_for(columns, kTileColumns), blocks_for(rows, kTileRows));
  with_device_type(x.dtype, [&]<class T>(Type<T>) {
    launch(context, "largest_magnitude", largest_magnitude_kernel<T>, parts, kThreads, 0, elements<T>(x),
           x.size(), largest);
    const auto convert_to = [&](auto kernel) {
      launch(context, "to_float8", kernel, grid, kThreads, 0, elements<T>(x), rows, columns, largest, parts,
             to);
    };
    if (out.type() == DType::e4m3)
      convert_to(to_float8_kernel<T, Float8E4M3>);
    else
      convert_to(to_float8_kernel<T, Float8E5M2>);
  });
}

}  // namespace podium::ops::cuda
