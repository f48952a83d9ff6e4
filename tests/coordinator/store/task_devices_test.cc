// All devices of a task are read back, those too of one process for a whole node.
#include "coordinator/store/reader.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

TEST(TaskDevices, AreThoseOfItsPlace) {
  TempFolder home;
  Store store(home.path(), at_once());
  Allocation allocation;
  allocation.ranks.push_back({{"node-1"}, 0, 0, 1, 0, 1, {1, 2, 7}});
  allocation.ranks.push_back({{"node-2"}, 3, 0, 1, 1, 1});
  Commit turn{queued_job(1), {}, {}, {}};
  turn.events.push_back({at_second(1), AttemptCreated{{{1}, 1}, allocation}});
  commit_now(store, std::move(turn));
  const std::vector<AttemptView> attempts = Reader(home.path()).attempts({1});
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].tasks.at(0).devices, (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(attempts[0].tasks.at(1).devices, (std::vector<int>{3}));
}

}  // namespace
}  // namespace podium
