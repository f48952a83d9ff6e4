// The device functions of CUDA C++ that Podium's kernels use, with the hardware's meaning. A use that the
// hardware leaves undefined is a KernelError.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <source_location>

#include "tests/cuda_shim/vector_types.h"

namespace podium::shim {

using Place = std::source_location;

template <class T>
struct ShuffleSlot {
  T value;
  int source;  // lane
  T result;
};

// Each lane of the mask receives the value of its source lane.
template <class T>
T shuffle(const char* operation, std::uint32_t mask, T value, int source, const Place& place) {
  ShuffleSlot<T> slot{value, source, value};
  if ((mask >> source & 1U) == 0) fail(std::string(operation) + " reads a lane outside of its mask", place);
  meet_warp(operation, place, mask, &slot, [](Slots& slots, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (slots[i] == nullptr) continue;
      auto& mine = *static_cast<ShuffleSlot<T>*>(slots[i]);
      mine.result = static_cast<ShuffleSlot<T>*>(slots[static_cast<std::size_t>(mine.source)])->value;
    }
  });
  return slot.result;
}

struct VoteSlot {
  bool vote;
  std::uint32_t ballot;
};

inline std::uint32_t ballot(const char* operation, std::uint32_t mask, bool vote, const Place& place) {
  VoteSlot slot{vote, 0};
  meet_warp(operation, place, mask, &slot, [](Slots& slots, std::size_t count) {
    std::uint32_t votes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (slots[i] != nullptr && static_cast<VoteSlot*>(slots[i])->vote) votes |= 1U << i;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (slots[i] != nullptr) static_cast<VoteSlot*>(slots[i])->ballot = votes;
    }
  });
  return slot.ballot;
}

// Lanes beyond their segment of `width` lanes keep their own value.
inline int source_lane(int lane_in_segment, int width, int target) {
  const int mine = static_cast<int>(lane());
  return target < 0 || target >= width ? mine : mine - lane_in_segment + target;
}

}  // namespace podium::shim

inline void __syncthreads(podium::shim::Place place = podium::shim::Place::current()) {
  podium::shim::meet_block("__syncthreads", place, nullptr, [](podium::shim::Slots&, std::size_t) {});
}

inline int __syncthreads_or(int predicate, podium::shim::Place place = podium::shim::Place::current()) {
  int slot = predicate;
  podium::shim::meet_block("__syncthreads_or", place, &slot,
                           [](podium::shim::Slots& slots, std::size_t count) {
                             int any = 0;
                             for (std::size_t i = 0; i < count; ++i) any |= *static_cast<int*>(slots[i]) != 0;
                             for (std::size_t i = 0; i < count; ++i) *static_cast<int*>(slots[i]) = any;
                           });
  return slot;
}

inline void __syncwarp(unsigned mask = 0xffffffffU,
                       podium::shim::Place place = podium::shim::Place::current()) {
  podium::shim::ballot("__syncwarp", mask, false, place);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              podium::shim::Place place = podium::shim::Place::current()) {
  const int segment = static_cast<int>(podium::shim::lane()) / width * width;
  return podium::shim::shuffle("__shfl_sync", mask, value, segment + source % width, place);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  podium::shim::Place place = podium::shim::Place::current()) {
  const int mine = static_cast<int>(podium::shim::lane()) % width;
  return podium::shim::shuffle("__shfl_xor_sync", mask, value,
                               podium::shim::source_lane(mine, width, mine ^ lanes), place);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 podium::shim::Place place = podium::shim::Place::current()) {
  const int mine = static_cast<int>(podium::shim::lane()) % width;
  return podium::shim::shuffle("__shfl_up_sync", mask, value,
                               podium::shim::source_lane(mine, width, mine - static_cast<int>(delta)), place);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   podium::shim::Place place = podium::shim::Place::current()) {
  const int mine = static_cast<int>(podium::shim::lane()) % width;
  return podium::shim::shuffle("__shfl_down_sync", mask, value,
                               podium::shim::source_lane(mine, width, mine + static_cast<int>(delta)), place);
}
inline unsigned __ballot_sync(unsigned mask, int vote,
                              podium::shim::Place place = podium::shim::Place::current()) {
  return podium::shim::ballot("__ballot_sync", mask, vote != 0, place);
}
inline int __any_sync(unsigned mask, int vote, podium::shim::Place place = podium::shim::Place::current()) {
  return podium::shim::ballot("__any_sync", mask, vote != 0, place) != 0;
}
inline int __all_sync(unsigned mask, int vote, podium::shim::Place place = podium::shim::Place::current()) {
  return podium::shim::ballot("__all_sync", mask, vote != 0, place) == mask;
}

// Threads change places only where they meet, so plain operations are atomic.
template <class T>
T atomicAdd(T* address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}
template <class T>
T atomicMax(T* address, T value) {
  const T before = *address;
  *address = before > value ? before : value;
  return before;
}
template <class T>
T atomicOr(T* address, T value) {
  const T before = *address;
  *address = before | value;
  return before;
}
template <class T>
T atomicExch(T* address, T value) {
  const T before = *address;
  *address = value;
  return before;
}
template <class T>
T atomicCAS(T* address, T expected, T value) {
  const T before = *address;
  if (before == expected) *address = value;
  return before;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float rsqrtf(float x) { return 1.0F / std::sqrt(x); }
inline float exp2f(float x) { return std::exp2(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(unsigned x) { return x == 0 ? 0 : std::countr_zero(x) + 1; }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
