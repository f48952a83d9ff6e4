// What a node that cannot start tasks says of itself.
#include "agent/start_health.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class StartHealthTest : public testing::Test {
 protected:
  TempFolder folder_;
  int probes_ = 0;
  StartHealth health_{folder_.path() / "home", [this] { ++probes_; }};
  Time now_ = from_millis(1000);
};

// It was tried on the agent's own thread: a file system that hung held up everything.
TEST_F(StartHealthTest, LetsOthersTryTheSharedFolder) {
  health_.failed("cannot open epoch", Shortage::none, now_);
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(health_.reason(), "") << "nobody knows yet";
  EXPECT_TRUE(health_.probed("cannot write probe", now_));
  EXPECT_THAT(health_.reason(), HasSubstr("cannot write probe"));
  EXPECT_FALSE(health_.look(now_ + 1s));
  EXPECT_EQ(probes_, 1) << "not due";
  EXPECT_FALSE(health_.look(now_ + 6s));
  EXPECT_EQ(probes_, 2);
  EXPECT_TRUE(health_.probed("", now_ + 6s));
  EXPECT_EQ(health_.reason(), "");
}

TEST_F(StartHealthTest, ASharedFolderThatCanBeWrittenExcusesNoShortage) {
  health_.failed("cannot open epoch", Shortage::none, now_);
  health_.failed("cannot start tasks: no process to be had", Shortage::other, now_);
  EXPECT_FALSE(health_.probed("", now_ + 1s));
  EXPECT_THAT(health_.reason(), HasSubstr("no process"));
  EXPECT_TRUE(health_.probed("", now_ + 6s));
}

TEST_F(StartHealthTest, TriesTheHomeItself) {
  write_file_atomic(folder_.path() / "home", "a file where a folder should be");
  EXPECT_TRUE(health_.look(now_));
  EXPECT_THAT(health_.reason(), HasSubstr((folder_.path() / "home").string()));
  EXPECT_EQ(probes_, 0);
}

}  // namespace
}  // namespace podium
