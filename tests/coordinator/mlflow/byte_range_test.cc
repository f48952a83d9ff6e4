#include "coordinator/mlflow/byte_range.h"

#include <gtest/gtest.h>

namespace podium::mlflow {
namespace {

const RangeAsked kWhole{};
const RangeAsked kUnsatisfiable{std::nullopt, true};

RangeAsked part(std::int64_t from, std::int64_t end) { return {ByteRange{from, end}, false}; }

TEST(ByteRange, OfAFileOf100Bytes) {
  EXPECT_EQ(range_of("bytes=0-0", 100), part(0, 1));
  EXPECT_EQ(range_of("bytes=10-19", 100), part(10, 20));
  EXPECT_EQ(range_of("bytes=99-", 100), part(99, 100));
  EXPECT_EQ(range_of("bytes=0-", 100), part(0, 100));
  EXPECT_EQ(range_of("bytes=90-200", 100), part(90, 100));
  EXPECT_EQ(range_of("bytes=0-9223372036854775807", 100), part(0, 100));
  EXPECT_EQ(range_of("bytes=-10", 100), part(90, 100));
  EXPECT_EQ(range_of("bytes=-200", 100), part(0, 100));
}

TEST(ByteRange, AfterTheEndCannotBeHad) {
  EXPECT_EQ(range_of("bytes=100-", 100), kUnsatisfiable);
  EXPECT_EQ(range_of("bytes=100-200", 100), kUnsatisfiable);
  EXPECT_EQ(range_of("bytes=-0", 100), kUnsatisfiable);
  EXPECT_EQ(range_of("bytes=0-", 0), kUnsatisfiable);
  EXPECT_EQ(range_of("bytes=-5", 0), kUnsatisfiable);
}

TEST(ByteRange, OfAnotherFormMeansTheWhole) {
  for (const char* field :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5", "bytes=9-5", "lines=0-1", "bytes=0-1,5-6",
        "bytes=--5", "bytes=0--5", "bytes= 0-1", "bytes=0-99999999999999999999"})
    EXPECT_EQ(range_of(field, 100), kWhole) << field;
}

}  // namespace
}  // namespace podium::mlflow
