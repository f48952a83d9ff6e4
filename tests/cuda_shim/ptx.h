// The instructions that worker/ops/cuda (mma.cuh, inference/sparse_mma.cuh, ldmatrix.cuh) writes in PTX,
// emulated: the fragments lie in the lanes' registers as the PTX manual says ("Matrix Fragments for
// mma.m16n8k16", "mma.m16n8k32", "mma.sp.m16n8k32" and "mma.sp.m16n8k64").
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

namespace podium::shim {

struct MmaSlot {
  const std::uint32_t* a;  // 4 registers
  const std::uint32_t* b;  // 2 registers, 4 where a is sparse
  void* d;                 // 4 sums, which begin as c
  std::uint32_t metadata;  // of a sparse a
};

// A lane's register holds two elements of 16 bits or four of 8, the first in the lowest bits.
template <class Sum, class Element>
Sum element_of(std::uint32_t word, unsigned index) {
  constexpr unsigned kBits = 8 * sizeof(Element);
  const std::uint32_t bits = word >> kBits * index;
  if constexpr (std::is_same_v<Element, std::int8_t>) {
    return static_cast<std::int8_t>(bits);
  } else {
    return to_float(Element{static_cast<decltype(Element::bits)>(bits)});
  }
}

// Elements of a row of a and of a column of b that one product takes, as many as 32 bytes hold; of a sparse a
// they are the kept ones.
template <class Element>
inline constexpr unsigned kMmaDepth = 32 / sizeof(Element);

// Four bits for each four neighbouring columns of a sparse row: where its two kept elements stand.
template <class Element>
unsigned kept_positions(const Slots& slots, unsigned row, unsigned group) {
  const auto word = [&](unsigned lane) { return static_cast<const MmaSlot*>(slots[lane])->metadata; };
  const unsigned quad = row % 8 * 4;
  if constexpr (sizeof(Element) == 2) {  // sparsity selector 0: the first two lanes of each four
    return word(quad + group / 4) >> (row / 8 * 16 + group % 4 * 4) & 15U;
  } else {
    return word(quad + row / 8 + group / 8 * 2) >> group % 8 * 4 & 15U;
  }
}

template <class Sum, class Element, bool kSparse>
void multiply_fragments(Slots& slots, std::size_t) {
  constexpr unsigned kDepth = kMmaDepth<Element>, kRows = kSparse ? 2 * kDepth : kDepth;
  constexpr unsigned kPerWord = 4 / sizeof(Element);
  const auto lane_slot = [&](unsigned i) { return static_cast<const MmaSlot*>(slots[i]); };
  Sum left[16][kDepth], right[kRows][8];
  unsigned columns[16][kDepth];  // where the elements of `left` stand in their row
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned group = i / 4, first = i % 4 * kPerWord;
    for (unsigned e = 0; e < 4 * kPerWord; ++e)
      left[group + e / kPerWord % 2 * 8][first + e % kPerWord + e / (2 * kPerWord) * kDepth / 2] =
          element_of<Sum, Element>(lane_slot(i)->a[e / kPerWord], e % kPerWord);
    for (unsigned e = 0; e < kRows / 4; ++e)
      right[first + e % kPerWord + e / kPerWord * kDepth / 2][group] =
          element_of<Sum, Element>(lane_slot(i)->b[e / kPerWord], e % kPerWord);
  }
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned k = 0; k < kDepth; ++k) {
      const unsigned places = kSparse ? kept_positions<Element>(slots, row, k / 2) : 4U;
      if ((places & 3U) >= places >> 2)
        throw KernelError("mma.sp is told to keep elements that do not ascend");
      columns[row][k] = !kSparse ? k : k / 2 * 4 + (k % 2 == 0 ? places & 3U : places >> 2);
    }
  }
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned e = 0; e < 4; ++e) {
      const unsigned row = i / 4 + e / 2 * 8, column = i % 4 * 2 + e % 2;
      Sum sum = 0;
      for (unsigned k = 0; k < kDepth; ++k) sum += left[row][k] * right[columns[row][k]][column];
      static_cast<Sum*>(lane_slot(i)->d)[e] += sum;
    }
  }
}

// d [16, 8] += a [16, depth] b [depth, 8], the products of one element added in Sum.
template <class Element, class Sum>
void mma(const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Sum (&d)[4],
         Place place = Place::current()) {
  MmaSlot slot{a, b, d, 0};
  meet_warp("mma.sync", place, 0xffffffffU, &slot, multiply_fragments<Sum, Element, false>);
}

// The same where a [16, 2 depth] is 2:4 sparse, with sparsity selector 0.
template <class Element, class Sum>
void mma_sparse(const std::uint32_t (&a)[4], const std::uint32_t (&b)[4], Sum (&d)[4], std::uint32_t metadata,
                Place place = Place::current()) {
  MmaSlot slot{a, b, d, metadata};
  meet_warp("mma.sp.sync", place, 0xffffffffU, &slot, multiply_fragments<Sum, Element, true>);
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
