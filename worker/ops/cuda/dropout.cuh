// Dropout's draws on the device, the same as on the CPU (worker/ops/cpu/draw.cc): Philox4x32-10 (Salmon et
// al., 2011) gives a thread eight draws with one counter, for the columns k * 16 + lane of a block of 128.
// Its own eight columns follow one another, so the lanes trade what is kept by ballot.
#pragma once

#include "worker/ops/cuda/step_value.cuh"
#include "worker/ops/cuda/vector.cuh"
#include "worker/ops/dropout.h"

namespace podium::ops::cuda {

// ops::Dropout within a kernel; `rows` lies in device memory, or is null.
struct DeviceDropout {
  PhiloxKey key;
  std::uint32_t site;
  std::uint64_t first_row;
  std::uint32_t threshold;
  float scale;
  const std::int64_t* rows;

  __device__ std::uint64_t row(std::int64_t i) const {
    return rows == nullptr ? first_row + static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(rows[i]);
  }
};

// ops::Dropout as a kernel's parameter, of which a thread makes a DeviceDropout first of all.
struct DropoutParameter {
  StepValue<PhiloxKey> key;
  std::uint32_t site;
  StepValue<std::uint64_t> first_row;
  std::uint32_t threshold;
  float scale;
  const std::int64_t* rows;

  explicit DropoutParameter(const Dropout& d)
      : key(d.key),
        site(d.site),
        first_row(d.first_row),
        threshold(d.threshold),
        scale(d.scale),
        rows(d.rows.empty() ? nullptr : d.rows.data()) {}

  __device__ operator DeviceDropout() const {
    return {current(key), site, current(first_row), threshold, scale, rows};
  }
};

// Which of columns [8 * vector, 8 * vector + 8) of a row are kept, as bits. All lanes of the warp must call
// it for one row, with vectors that follow one another from a multiple of 16 on.
__device__ __forceinline__ unsigned kept_columns(const DeviceDropout& dropout, std::uint64_t row,
                                                 std::uint32_t vector) {
  const PhiloxCounter draws = philox(dropout.key, {vector, static_cast<std::uint32_t>(row),
                                                   static_cast<std::uint32_t>(row >> 32), dropout.site});
  const unsigned lane = threadIdx.x % 32;
  unsigned ballot = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const std::uint32_t draw = draws[k / 2] >> (k % 2 * 16) & 0xffffU;
    const unsigned kept = __ballot_sync(kAllLanes, draw >= dropout.threshold);
    if (lane % 16 / 2 == k) ballot = kept;
  }
  return ballot >> ((lane & 16U) + 8 * (lane & 1U)) & 0xffU;
}

// values = kept ? values * scale : 0
__device__ __forceinline__ void drop(const DeviceDropout& dropout, unsigned kept, float (&values)[kVector]) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] = (kept >> i & 1U) != 0 ? values[i] * dropout.scale : 0.0F;
}

}  // namespace podium::ops::cuda
