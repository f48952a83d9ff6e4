#include "coordinator/loop/number_record.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

class NumberRecords : public testing::Test {
 protected:
  std::int64_t highest(const std::string& cluster = "one") const {
    return NumberRecord(folder_.path(), cluster).highest().value;
  }

  TempFolder folder_;
};

TEST_F(NumberRecords, KeepTheHighest) {
  EXPECT_EQ(highest(), 0);
  NumberRecord record(folder_.path(), "one");
  for (const std::int64_t number : {7, 1234567, 9}) record.keep({number});
  EXPECT_EQ(record.highest().value, 1234567);
  EXPECT_EQ(highest(), 1234567);
  NumberRecord(folder_.path(), "one").keep({INT64_MAX});
  EXPECT_EQ(highest(), INT64_MAX);
}

TEST_F(NumberRecords, AFolderThatIsGoneStopsNothing) {
  NumberRecord record(folder_.path() / "gone", "one");
  record.keep({7});
  EXPECT_EQ(record.highest().value, 0);
}

TEST_F(NumberRecords, AreOfOneCluster) {
  NumberRecord(folder_.path(), "one").keep({7});
  EXPECT_EQ(highest("two"), 0);
  NumberRecord(folder_.path(), "two").keep({3});
  EXPECT_EQ(highest("two"), 3);
  EXPECT_EQ(highest("one"), 0);
}

TEST_F(NumberRecords, WhatSaysNothingIsAsNone) {
  for (const char* text :
       {"", "one", "one 7", "one 00000000000000000007", "one 0000000000000000000x\n", "\n"}) {
    write_file_atomic(folder_.path() / "highest-job", text);
    EXPECT_EQ(highest(), 0) << text;
  }
}

}  // namespace
}  // namespace podium
