#include "common/net/zstd.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(Zstd, GivesBackWhatWasPacked) {
  std::string plain;
  for (int i = 0; i < 100'000; ++i) plain += std::to_string(i);
  EXPECT_EQ(*zstd_decompress(zstd_compress(plain), plain.size()), plain);
  EXPECT_EQ(*zstd_decompress(zstd_compress(""), 10), "");
}

TEST(Zstd, StopsAtTheLimit) {
  const std::string bomb = zstd_compress(std::string(64 << 20, '\0'));
  ASSERT_LT(bomb.size(), 100'000u);
  const auto result = zstd_decompress(bomb, 1 << 20);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.errors().front().code, ErrorCode::too_large);
}

TEST(Zstd, NoticesAFlippedBit) {
  std::string plain;  // that does not compress: most of the frame is the content itself
  for (std::uint32_t i = 0, x = 1; i < 10'000; ++i)
    plain += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  const std::string packed = zstd_compress(plain);
  for (std::size_t at = 100; at < packed.size(); at += 997) {
    std::string flipped = packed;
    flipped[at] ^= 4;
    EXPECT_FALSE(zstd_decompress(flipped, 1 << 20).ok()) << "byte " << at;
  }
}

TEST(Zstd, RefusesGarbageAndHalves) {
  const std::string packed = zstd_compress(std::string(100'000, 'x') + "end");
  for (const std::string& bad :
       {std::string("not zstd"), packed.substr(0, packed.size() / 2), std::string()}) {
    const auto result = zstd_decompress(bad, 1 << 20);
    ASSERT_FALSE(result.ok()) << bad.size();
    EXPECT_EQ(result.errors().front().code, ErrorCode::invalid);
  }
}

// A few bytes that make a decoder set 128 MiB aside before it has seen any content: a frame of unknown length
// (no single segment) whose window descriptor says 2^27.
TEST(Zstd, RefusesAFrameThatAsksForALargeWindow) {
  const std::string frame("\x28\xB5\x2F\xFD\x00\x88\x01\x00\x00", 9);
  const auto unpacked = zstd_decompress(frame, 1 << 20);
  ASSERT_FALSE(unpacked.ok());
  EXPECT_EQ(unpacked.errors()[0].code, ErrorCode::too_large);
}

}  // namespace
}  // namespace podium
