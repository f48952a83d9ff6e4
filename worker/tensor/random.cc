#include "worker/tensor/random.h"

#include <cmath>
#include <numbers>

#include "common/base/check.h"

namespace podium {
namespace {

// The finalizer of splitmix64 (Steele, Lea and Flood, 2014): a bijection of 64 bits.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

PhiloxKey philox_key(std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t key = mix(mix(seed + 0x9E3779B97F4A7C15) ^ stream);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

void Random::seek(std::uint64_t index) {
  block_ = index / 4;
  used_ = 4;
  for (std::uint64_t skipped = 0; skipped < index % 4; ++skipped) next_u32();
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    draws_ =
        philox(key_, {static_cast<std::uint32_t>(block_), static_cast<std::uint32_t>(block_ >> 32), 0, 0});
    ++block_;
    used_ = 0;
  }
  return draws_[used_++];
}

std::uint32_t Random::below(std::uint32_t bound) {
  PODIUM_CHECK(bound > 0, "below(0) has no value");
  const std::uint32_t rejected = (0U - bound) % bound;  // the draws that would favour small values
  std::uint64_t product = 0;
  do {
    product = static_cast<std::uint64_t>(next_u32()) * bound;
  } while (static_cast<std::uint32_t>(product) < rejected);
  return static_cast<std::uint32_t>(product >> 32);
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace podium
