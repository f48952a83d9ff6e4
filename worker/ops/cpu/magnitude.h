// The largest magnitude of f32, bf16 or f16, as its bits in f32: a NaN's are larger than infinity's, and
// those than a number's.
#pragma once

#include <cstdint>

namespace podium::ops::cpu {

// Of x[0, count), on one thread and on several.
template <class T>
std::uint32_t largest_magnitude(const T* x, std::int64_t count);
template <class T>
std::uint32_t largest_magnitude(const T* x, std::int64_t count, int threads);

}  // namespace podium::ops::cpu
