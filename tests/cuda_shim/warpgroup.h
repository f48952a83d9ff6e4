// wgmma.mma_async.m64n64k16, emulated a warp at a time: the PTX manual's "Matrix fragments for
// wgmma.mma_async.m64nNk16", and for operands in shared memory its canonical layouts with the 128-byte
// swizzle, where groups of eight rows are 1024 bytes apart.
#pragma once

#include <cstdint>
#include <cstring>

#include "tests/cuda_shim/ptx.h"

namespace podium::shim {

struct WgmmaSlot {
  const std::uint32_t* registers;  // 4 of the left operand, or null
  const void* a;                   // or the left operand's tile
  const void* b;
  bool adds;
  float* d;  // 32 sums
  unsigned first_row;
};

// Element (row, column) of what begins at `begin`: the swizzle is of addresses in shared memory.
template <class Element>
float tile_element(const void* begin, unsigned row, unsigned column) {
  const std::byte* const shared = dynamic_shared_memory();
  auto offset = static_cast<std::uintptr_t>(static_cast<const std::byte*>(begin) - shared);
  offset += row / 8 * 1024 + row % 8 * 128 + column * sizeof(Element);
  offset ^= (offset >> 7 & 7U) << 4;
  Element element;
  std::memcpy(&element, shared + offset, sizeof(element));
  return to_float(element);
}

// kTransposed: a row of the right operand's tile is a column of it.
template <class Element, bool kTransposed>
void multiply_warp_rows(Slots& slots, std::size_t) {
  const auto lane_slot = [&](unsigned i) { return static_cast<const WgmmaSlot*>(slots[i]); };
  const WgmmaSlot& first = *lane_slot(0);
  float left[16][16], right[16][64];
  for (unsigned i = 0; i < 32; ++i) {
    if (lane_slot(i)->a != first.a || lane_slot(i)->b != first.b)
      throw KernelError("wgmma's lanes name different operands");
    for (unsigned e = 0; e < 8; ++e) {
      const unsigned row = i / 4 + e / 2 % 2 * 8, k = i % 4 * 2 + e % 2 + e / 4 * 8;
      left[row][k] = first.a != nullptr ? tile_element<Element>(first.a, first.first_row + row, k)
                                        : element_of<float, Element>(lane_slot(i)->registers[e / 2], e % 2);
    }
  }
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned n = 0; n < 64; ++n)
      right[k][n] = kTransposed ? tile_element<Element>(first.b, n, k) : tile_element<Element>(first.b, k, n);
  }
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned e = 0; e < 32; ++e) {
      const unsigned row = i / 4 + e / 2 % 2 * 8, column = e / 4 * 8 + i % 4 * 2 + e % 2;
      float sum = 0.0F;
      for (unsigned k = 0; k < 16; ++k) sum += left[row][k] * right[k][column];
      float& d = lane_slot(i)->d[e];
      d = lane_slot(i)->adds ? d + sum : sum;
    }
  }
}

template <class Element>
void wgmma_of_tiles(const void* a, const void* b, bool adds, float* d, Place place = Place::current()) {
  WgmmaSlot slot{nullptr, a, b, adds, d, threadIdx.x / 32 % 4 * 16};
  meet_warp("wgmma.mma_async", place, 0xffffffffU, &slot, multiply_warp_rows<Element, true>);
}

template <class Element>
void wgmma_of_rows(const std::uint32_t (&a)[4], const void* b, float* d, Place place = Place::current()) {
  WgmmaSlot slot{a, nullptr, b, true, d, 0};
  meet_warp("wgmma.mma_async", place, 0xffffffffU, &slot, multiply_warp_rows<Element, false>);
}

}  // namespace podium::shim
