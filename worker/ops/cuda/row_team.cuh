// How the row kernels spread a row of a tensor [rows, columns] over a block: kWarps warps, each thread
// holding kVectors groups of eight columns in registers from the row's one load to its one store. One group a
// thread lets most threads run; more than two would leave the backward kernels short of registers.
#pragma once

#include "common/base/check.h"
#include "worker/ops/cuda/vector.cuh"

namespace podium::ops::cuda {

template <int kWarpsIn, int kVectorsIn>
struct RowTeam {
  static constexpr int kWarps = kWarpsIn;
  static constexpr int kVectors = kVectorsIn;
  static constexpr unsigned kThreads = 32 * kWarps;
  static constexpr std::int64_t kColumns = std::int64_t{kThreads} * kVectors * kVector;

  // Number of this thread's v-th group of eight columns; lanes hold neighbouring groups.
  __device__ static std::uint32_t group(int v) {
    return static_cast<std::uint32_t>(v) * kThreads + threadIdx.x;
  }
  __device__ static std::int64_t column(int v) { return std::int64_t{group(v)} * kVector; }
};

// body(RowTeam<...>{}), the smallest team that holds a row.
template <class Body>
void with_row_team(std::int64_t columns, const Body& body) {
  if (columns <= RowTeam<1, 1>::kColumns) return body(RowTeam<1, 1>{});
  if (columns <= RowTeam<2, 1>::kColumns) return body(RowTeam<2, 1>{});
  if (columns <= RowTeam<3, 1>::kColumns) return body(RowTeam<3, 1>{});  // BERT-base's 768
  if (columns <= RowTeam<4, 1>::kColumns) return body(RowTeam<4, 1>{});
  if (columns <= RowTeam<8, 1>::kColumns) return body(RowTeam<8, 1>{});
  if (columns <= RowTeam<16, 1>::kColumns) return body(RowTeam<16, 1>{});
  using Largest = RowTeam<16, 2>;
  PODIUM_CHECK(columns <= Largest::kColumns, "CUDA row kernels hold rows of at most 8192 columns");
  return body(Largest{});
}

}  // namespace podium::ops::cuda
