// Packed points are the points, bit by bit; bytes that are none are an error and nothing else.
#include "coordinator/store/chunks/codec.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "coordinator/store/chunks/integers.h"
#include "coordinator/store/chunks/values.h"
#include "tests/coordinator/store/chunks/random_points.h"

namespace podium {
namespace {

constexpr std::int64_t kLeast = INT64_MIN, kMost = INT64_MAX;

std::vector<std::int64_t> integers_again(const std::vector<std::int64_t>& values) {
  std::string bytes;
  pack_integers(values, bytes);
  ByteReader in(bytes);
  auto read = unpack_integers(in, values.size());
  EXPECT_TRUE(in.whole() && in.at_end());
  return read;
}

std::size_t packed_size(const std::vector<double>& values) {
  std::string bytes;
  pack_values(values, bytes);
  return bytes.size();
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// With the checksum that belongs to them.
std::string with_checksum(std::string bytes) {
  const auto sum = static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes;
}

std::string why_not(std::string_view bytes) {
  const auto points = decode_points(bytes);
  return points ? "they are read" : points.errors().at(0).message;
}

TEST(PackedIntegers, AreTheSameAtEveryEdge) {
  const std::vector<std::vector<std::int64_t>> cases{
      {}, {0}, {kLeast}, {kMost}, {kLeast, kMost}, {kMost, kLeast, 0, -1, 1}, {kLeast, kLeast, kMost, kMost}};
  for (const auto& values : cases) EXPECT_EQ(integers_again(values), values);
  for (const std::size_t count : {63, 64, 65, 127, 128, 129, 4096})
    for (int width = 0; width <= 64; ++width) {
      std::mt19937_64 random(count * 100 + static_cast<std::size_t>(width));
      std::vector<std::int64_t> values(count);
      for (auto& value : values) value = width == 0 ? 7 : static_cast<std::int64_t>(random() >> (64 - width));
      EXPECT_EQ(integers_again(values), values) << count << " of " << width << " bits";
    }
}

TEST(PackedIntegers, TakeNextToNothingWhereTheyFollowARule) {
  std::vector<std::int64_t> steps, squares;
  for (std::int64_t i = 0; i < 4096; ++i) steps.push_back(1'000'000 + 10 * i), squares.push_back(i * i);
  for (const auto& values : {steps, squares}) {
    std::string bytes;
    pack_integers(values, bytes);
    EXPECT_LT(bytes.size(), 90u);
  }
}

TEST(PackedIntegers, AFewFarOutCostTheirOwnBytes) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> values(4096);
  for (auto& value : values) value = static_cast<std::int64_t>(random() % 16);
  std::string narrow, spiked;
  pack_integers(values, narrow);
  for (std::size_t i = 30; i < values.size(); i += 64) values[i] = std::int64_t{1} << 50;
  pack_integers(values, spiked);
  EXPECT_EQ(integers_again(values), values);
  EXPECT_LT(spiked.size(), narrow.size() + 64 * 10);
}

TEST(PackedValues, OfFloatsAndOfFewDigitsTakeWhatTheyTell) {
  std::mt19937_64 random(2);
  std::vector<double> floats, digits, doubles;
  for (int i = 0; i < 4096; ++i) {
    floats.push_back(random_value(random, 1, i));
    digits.push_back(random_value(random, 2, i));
    doubles.push_back(random_value(random, 0, 1e9));
  }
  EXPECT_LT(packed_size(floats), 3u * 4096);
  EXPECT_LT(packed_size(digits), 3u * 4096 / 2) << "ten bits or so";
  EXPECT_LT(packed_size(doubles), 7u * 4096);
}

TEST(Chunk, IsThePointsWhateverTheyAre) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const std::size_t count = seed % 3 == 0 ? kPointsInChunk : 1 + random() % kPointsInChunk;
    const auto points = random_points(random, count);
    const auto read = decode_points(encode_points(points));
    ASSERT_TRUE(read.ok()) << describe(read.errors());
    ASSERT_TRUE(std::ranges::equal(*read, points, same)) << "seed " << seed;
  }
}

// What was written once is read for ever: these bytes never change but with a version of their own.
TEST(Chunk, GoldenBytes) {
  const std::vector<StoredPoint> points{{1, 1000, 2.5, 1}, {2, 1010, 2.25, 1}, {3, 1021, -1.0, 2}};
  EXPECT_EQ(hex(encode_points(points)),
            "01030002000224000500d00f405500010002040102000089001962931200abc43caa");
}

TEST(Chunk, EveryCutAndEveryFlippedBitIsFound) {
  std::mt19937_64 random(3);
  std::string bytes = encode_points(random_points(random, 100));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_points(std::string_view(bytes).substr(0, size)).ok()) << size;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_points(bytes).ok()) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

// Behind a checksum that fits, as a bug or an attacker would have it.
TEST(Chunk, BytesAtRandomAreAnErrorOrPoints) {
  std::mt19937_64 random(4);
  int read = 0;
  for (int i = 0; i < 15'000; ++i) {
    std::string bytes(1 + random() % 300, '\1');
    for (std::size_t at = i % 2; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random());
    if (const auto points = decode_points(with_checksum(bytes))) {
      ++read;
      EXPECT_LE(points->size(), kPointsInChunk);
    }
  }
  EXPECT_LT(read, 300);
}

TEST(Chunk, DamagedColumnsAreAnErrorOrPoints) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 8'000; ++i) {
    std::string bytes = encode_points(random_points(random, 1 + random() % 200));
    bytes.resize(bytes.size() - 4);
    for (int hits = 1 + static_cast<int>(random() % 4); hits > 0; --hits)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    if (const auto points = decode_points(with_checksum(bytes))) {
      EXPECT_TRUE(std::ranges::is_sorted(*points, std::ranges::less_equal{}, &StoredPoint::step));
    }
  }
}

TEST(Chunk, SaysWhatIsWrong) {
  const std::string good = encode_points(std::vector<StoredPoint>{{1, 1, 1, 1}});
  EXPECT_EQ(why_not(""), "packed points are damaged: there are 0 bytes");
  EXPECT_EQ(why_not(good.substr(1)), "packed points are damaged: their checksum is another");
  EXPECT_EQ(why_not(with_checksum("\7\1")),
            "packed points are damaged: they are of format 7, this program knows 1");
  EXPECT_EQ(why_not(with_checksum(std::string("\1\0", 2))), "packed points are damaged: their count is 0");
  EXPECT_EQ(why_not(with_checksum("\1\xff\xff\xff\x7f")),
            "packed points are damaged: their count is 268435455");
  EXPECT_EQ(why_not(with_checksum("\1\1")),
            "packed points are damaged: a column is cut off or makes no sense");
  EXPECT_EQ(why_not(with_checksum(good.substr(0, good.size() - 4) + "x")),
            "packed points are damaged: something follows the columns");
}

}  // namespace
}  // namespace podium
