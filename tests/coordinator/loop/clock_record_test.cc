// Steps of the cluster's time across restarts of the coordinator.
#include "coordinator/loop/clock_record.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

class ClockRecords : public testing::Test {
 protected:
  ClockRecord next(const std::string& boot = "one") const { return {folder_.path(), boot}; }
  std::string file() const { return read_file(folder_.path() / "clock.json"); }

  TempFolder folder_;
};

TEST_F(ClockRecords, TellByHowMuchARestartMovedTheTime) {
  EXPECT_EQ(next().step(1h), std::nullopt) << "nothing is on record";
  next().keep(1h);
  EXPECT_EQ(next().step(1h), std::nullopt);
  EXPECT_EQ(next().step(1h + 999ms), std::nullopt);
  EXPECT_EQ(next().step(1h + 1s), 1s);
  EXPECT_EQ(next().step(1h - 1s), -1s);
  EXPECT_EQ(next().step(50h), 49h);
}

TEST_F(ClockRecords, SayNothingOfAnotherBoot) {
  next("one").keep(1h);
  EXPECT_EQ(next("two").step(9h), std::nullopt);
}

TEST_F(ClockRecords, FollowADriftWithoutWritingAllTheTime) {
  ClockRecord record = next();
  record.keep(1h);
  const std::string before = file();
  record.keep(1h + 99ms);
  EXPECT_EQ(file(), before);
  record.keep(1h + 100ms);
  EXPECT_NE(file(), before);
  EXPECT_EQ(next().step(1h + 1099ms), std::nullopt);
  EXPECT_EQ(next().step(1h + 1100ms), 1s);
}

TEST_F(ClockRecords, AFileThatSaysNothingIsAsNone) {
  for (const char* text :
       {"", "[]", "{}", "{\"boot\":\"one\"}", "{\"boot\":\"one\",\"ahead_ms\":\"1\"}", "{\"boot\":1}"}) {
    write_file_atomic(folder_.path() / "clock.json", text);
    EXPECT_EQ(next().step(9h), std::nullopt) << text;
  }
}

TEST_F(ClockRecords, AFolderThatIsGoneIsAnError) {
  EXPECT_THROW(ClockRecord("/nonexistent", "one").keep(1h), std::system_error);
}

}  // namespace
}  // namespace podium
