// rows_of (ops/sequence_rows.h) within a kernel.
#pragma once

#include <cuda_runtime.h>

#include "worker/ops/sequence_rows.h"

namespace podium::ops::cuda {

// SequenceRows of `all_rows`, as a kernel takes it; null where there is no such array.
struct Places {
  std::int64_t sequences, length, all_rows;
  const std::int32_t *valid_lengths, *begins;
};

inline Places places_of(const SequenceRows& rows, std::int64_t all_rows) {
  return {rows.sequences, rows.length, all_rows,
          rows.valid_lengths.empty() ? nullptr : rows.valid_lengths.data(),
          rows.begins.empty() ? nullptr : rows.begins.data()};
}

__device__ __forceinline__ RowsOfOne rows_of(const Places& places, std::int64_t sequence) {
  const bool last = sequence + 1 == places.sequences;
  if (places.begins != nullptr) {
    const std::int64_t next = places.begins[sequence + 1];
    return {places.begins[sequence], next, last ? places.all_rows : next};
  }
  const std::int64_t begin = sequence * places.length;
  const std::int64_t valid = places.valid_lengths != nullptr ? places.valid_lengths[sequence] : places.length;
  return {begin, begin + valid, last ? places.all_rows : begin + places.length};
}

}  // namespace podium::ops::cuda
