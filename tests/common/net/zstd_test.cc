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

TEST(Zstd, RefusesGarbageAndHalves) {
  const std::string packed = zstd_compress(std::string(100'000, 'x') + "end");
  for (const std::string& bad :
       {std::string("not zstd"), packed.substr(0, packed.size() / 2), std::string()}) {
    const auto result = zstd_decompress(bad, 1 << 20);
    ASSERT_FALSE(result.ok()) << bad.size();
    EXPECT_EQ(result.errors().front().code, ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace podium
