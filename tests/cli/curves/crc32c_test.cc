// CRC-32C against the vectors of RFC 3720, B.4, and the head of every event file that TensorFlow has written.
#include "cli/curves/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace podium::cli {
namespace {

using namespace std::string_literals;

std::string counting(int from, int by) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes += static_cast<char>(from + by * i);
  return bytes;
}

TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46dd794eU);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113fdb5cU);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, MaskedSumIsThatOfTensorFlow) {
  EXPECT_EQ(masked_crc32c("\x18\0\0\0\0\0\0\0"s), 0x224b7fa3U) << "of a first record's length, 24";
}

}  // namespace
}  // namespace podium::cli
