// The instructions that worker/ops/cuda (mma.cuh, ldmatrix.cuh) writes in PTX, emulated: the fragments lie in
// the lanes' registers as the PTX manual says ("Matrix Fragments for mma.m16n8k16").
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>

namespace podium::shim {

struct MmaSlot {
  const std::uint32_t* a;  // 4 registers, two elements each
  const std::uint32_t* b;  // 2 registers
  float* d;                // 4 sums, which begin as c
};

template <class Half>
float half_of(std::uint32_t word, unsigned index) {
  return to_float(Half{static_cast<std::uint16_t>(word >> 16 * index)});
}

// d [16, 8] += a [16, 16] b [16, 8], the products of one element added in f32.
template <class Half>
void mma_m16n8k16(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], float (&d)[4],
                  Place place = Place::current()) {
  MmaSlot slot{a, b, d};
  meet_warp("mma.sync", place, 0xffffffffU, &slot, [](Slots& slots, std::size_t) {
    const auto lane_slot = [&](unsigned i) { return static_cast<const MmaSlot*>(slots[i]); };
    float left[16][16], right[16][8];
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned group = i / 4, pair = i % 4 * 2;
      for (unsigned e = 0; e < 8; ++e)
        left[group + (e / 2 % 2) * 8][pair + e % 2 + (e / 4) * 8] =
            half_of<Half>(lane_slot(i)->a[e / 2], e % 2);
      for (unsigned e = 0; e < 4; ++e)
        right[pair + e % 2 + (e / 2) * 8][group] = half_of<Half>(lane_slot(i)->b[e / 2], e % 2);
    }
    for (unsigned i = 0; i < 32; ++i) {
      for (unsigned e = 0; e < 4; ++e) {
        const unsigned row = i / 4 + e / 2 * 8, column = i % 4 * 2 + e % 2;
        float sum = 0.0F;
        for (unsigned k = 0; k < 16; ++k) sum += left[row][k] * right[k][column];
        lane_slot(i)->d[e] += sum;
      }
    }
  });
}

struct MatrixSlot {
  const void* row;
  std::uint32_t* words;  // 4
};

template <bool kTransposed>
void hand_out_matrices(Slots& slots, std::size_t) {
  const auto lane_slot = [&](unsigned i) { return static_cast<const MatrixSlot*>(slots[i]); };
  std::uint16_t elements[4][8][8];
  for (unsigned i = 0; i < 32; ++i) std::memcpy(elements[i / 8][i % 8], lane_slot(i)->row, 16);
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned group = i / 4, pair = i % 4 * 2;
    for (unsigned m = 0; m < 4; ++m) {
      const auto& matrix = elements[m];
      const std::uint32_t low = kTransposed ? matrix[pair][group] : matrix[group][pair];
      const std::uint32_t high = kTransposed ? matrix[pair + 1][group] : matrix[group][pair + 1];
      lane_slot(i)->words[m] = high << 16 | low;
    }
  }
}

// Four 8x8 matrices whose rows the lanes name, eight lanes a matrix.
template <bool kTransposed>
void ldmatrix_x4(const void* row, std::uint32_t (&words)[4], Place place = Place::current()) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    fail("ldmatrix reads a row not aligned to 16 bytes", place);
  MatrixSlot slot{row, words};
  meet_warp("ldmatrix", place, 0xffffffffU, &slot, hand_out_matrices<kTransposed>);
}

}  // namespace podium::shim
