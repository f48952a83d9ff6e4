#include "worker/data/shuffle.h"

#include "common/base/check.h"

namespace podium {

Shuffle::Shuffle(std::uint64_t seed, std::uint64_t stream, std::int64_t size)
    : key_(philox_key(seed, stream)), size_(size) {
  PODIUM_CHECK(size > 0, "nothing to shuffle");
  while ((std::int64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
}

std::int64_t Shuffle::operator[](std::int64_t position) const {
  PODIUM_CHECK(position >= 0 && position < size_, "position outside the shuffle");
  auto value = static_cast<std::uint64_t>(position);
  do {
    value = permute(value);
  } while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

std::uint64_t Shuffle::permute(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  for (std::uint32_t round = 0; round < 4; ++round) {
    const PhiloxCounter draw =
        philox(key_, {static_cast<std::uint32_t>(right), static_cast<std::uint32_t>(right >> 32), round, 0});
    const std::uint64_t mixed = (static_cast<std::uint64_t>(draw[1]) << 32 | draw[0]) & mask;
    const std::uint64_t next = left ^ mixed;
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

}  // namespace podium
