#include "agent/process/cgroup.h"

#include <gtest/gtest.h>

#include "tests/temp_folder.h"

namespace podium {
namespace {

TEST(Cgroup, FindsTheMountOfVersionTwo) {
  EXPECT_EQ(cgroup_mount("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"),
            "/sys/fs/cgroup");
  EXPECT_EQ(cgroup_mount("31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                         "41 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cgroup/unified");
  EXPECT_EQ(cgroup_mount("31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"), "");
}

TEST(Cgroup, FindsTheOwnGroup) {
  EXPECT_EQ(own_cgroup("8:pids:/user\n0::/user.slice/agent\n"), "/user.slice/agent");
  EXPECT_EQ(own_cgroup("8:pids:/user\n"), "");
}

TEST(Cgroup, TwoHomesDoNotShareGroups) {
  const TempFolder one;
  const TempFolder other;
  const auto first = Cgroups::find(one.path());
  const auto second = Cgroups::find(other.path());
  if (!first || !second) GTEST_SKIP() << "skipped: waits for a writable cgroup v2";
  const TaskId task{{{1}, 1}, 0};
  EXPECT_NE(first->folder(task), second->folder(task));
  ASSERT_EQ(first->make(task), first->folder(task));
  EXPECT_TRUE(std::filesystem::exists(first->folder(task) / "cgroup.procs"));
  first->remove(task);
  EXPECT_FALSE(std::filesystem::exists(first->folder(task)));
  EXPECT_EQ(Cgroups::find(one.path())->folder(task), first->folder(task)) << "found again";
  first->make(task);
  first->tidy();
  second->tidy();
  EXPECT_FALSE(std::filesystem::exists(first->folder(task).parent_path()));
}

}  // namespace
}  // namespace podium
