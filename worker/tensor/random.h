// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// 2011). A draw is a pure function of (seed, stream, counter), so nothing is stored and any part can be drawn
// again alone.
#pragma once

#include <array>
#include <cstdint>

namespace podium {

using PhiloxCounter = std::array<std::uint32_t, 4>;

struct PhiloxKey {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

// A key for one use of a seed: equal only for equal (seed, stream).
PhiloxKey philox_key(std::uint64_t seed, std::uint64_t stream);

// constexpr, so that device code may call it.
constexpr PhiloxCounter philox(PhiloxKey key, PhiloxCounter c) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key.low, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key.high, static_cast<std::uint32_t>(p0)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
  }
  return c;
}

// Sequential draws for set-up work (initial weights, shuffles): the i-th draw depends only on (seed, stream,
// i).
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : key_(philox_key(seed, stream)) {}

  // The next draw is the index-th; every draw of 32 bits counts as one, a normal as four.
  void seek(std::uint64_t index);
  std::uint32_t next_u32();
  std::uint64_t next_u64() { return static_cast<std::uint64_t>(next_u32()) << 32 | next_u32(); }
  std::uint32_t below(std::uint32_t bound);  // uniform in [0, bound), without bias
  double uniform();                          // [0, 1), 53 bits
  double normal();                           // mean 0, variance 1 (Box and Muller)

 private:
  PhiloxKey key_;
  std::uint64_t block_ = 0;  // the next to draw
  PhiloxCounter draws_{};
  unsigned used_ = 4;
};

}  // namespace podium
