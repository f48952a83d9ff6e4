// An agent whose home is full of what its tasks have written.
#include <gmock/gmock.h>

#include "agent/lasting_troubles.h"
#include "agent/process/fence_file.h"
#include "common/net/code_snapshot.h"
#include "tests/agent/agent_fixture.h"
#include "tests/small_disk.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kFill[] = "cat /dev/zero | tr '\\0' x; exit 3";

class FullHome : public AgentFixture {
 protected:
  void SetUp() override {
    if (!disk_.is_mounted()) GTEST_SKIP() << "skipped: waits for the right to mount a file system";
  }
  ~FullHome() override {
    agent_.reset();
    if (const auto cgroups = Cgroups::find(home())) cgroups->tidy();  // while its id is there
  }

  int lines_with(const std::string& text) const {
    const std::string all = log();
    int count = 0;
    for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++count;
    return count;
  }

  // Once the agent has followed them.
  void order(const std::vector<TaskOrder>& tasks) {
    coordinator_.order(tasks);
    const std::int64_t version = coordinator_.version();
    EXPECT_TRUE(eventually([&] { return coordinator_.report().orders_seen >= version; }));
  }

  test::SmallDisk disk_{home(), "12m"};
};

// The task was never forgotten, its folder never went, and the node took no more tasks.
TEST_F(FullHome, RecoversFromDeliveredOutputByItself) {
  start_agent();
  coordinator_.order({run(task(1), kFill)});
  EXPECT_EQ(wait_for_exit(task(1)).code, 3);
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1)); }));
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(task_folder(task(1)).path()); }));
  EXPECT_EQ(read_fences(home()), (Fences{{{1}, 1}}));
  EXPECT_TRUE(eventually([&] { return coordinator_.report().node.devices.at(0).health.empty(); }));
  coordinator_.order({run(task(2), "echo ran")});
  EXPECT_EQ(wait_for_exit(task(2)).code, 0);
  EXPECT_TRUE(eventually([&] { return coordinator_.stream(task(2), StreamKind::out) == "ran\n"; }));
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(home() / "reserve"); }));
}

// As one that an agent of before has left, which made no reserve.
TEST_F(FullHome, IsEmptiedByTheNextAgent) {
  start_agent();
  coordinator_.order({run(task(1), kFill)});
  wait_for_exit(task(1));
  kill_agent();
  std::filesystem::remove(home() / "reserve");
  disk_.fill();
  start_agent();
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return coordinator_.report().orders_seen > 1 && !reported(task(1)); }));
  EXPECT_EQ(read_fences(home()), (Fences{{{1}, 1}}));
  EXPECT_GT(disk_.free_bytes(), 6'000'000);
}

// The task stayed `starting`, only the agent's log knew why, and the node came and went.
TEST_F(FullHome, EndsATaskWhoseCodeHasNoRoom) {
  start_agent();
  wait_for_log("in touch");
  const CodeSnapshot code =
      pack_code({{"weights", TarEntry::Kind::file, false, std::string(4 << 20, 'x')}}, "").value();
  std::filesystem::create_directories(home() / "code");
  write_file_atomic(home() / "code" / code.sha256, code.packed);
  disk_.fill(600 << 10);
  TaskOrder order = run(task(1), "cat weights | wc -c");
  order.launch.spec.code = CodeSpec{};
  order.launch.spec.code->snapshot = code.sha256;
  coordinator_.order({order});
  const TaskExit exit = wait_for_exit(task(1));
  EXPECT_EQ(exit.cause, ExitCause::not_started);
  EXPECT_THAT(exit.message,
              HasSubstr("the disk of this node is full: make room in " + (home() / "code").string()));
  const auto health = [&] { return coordinator_.report().node.devices.at(0).health; };
  EXPECT_TRUE(eventually([&] { return !health().empty(); }));
  const auto end = std::chrono::steady_clock::now() + 8s;  // beyond the agent's first pause
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_THAT(health(), HasSubstr("the disk of this node is full"));
    std::this_thread::sleep_for(50ms);
  }
  disk_.clear();
  EXPECT_TRUE(eventually([&] { return health().empty(); }));
  order.launch.task = task(2);
  order.launch.device_index = 2;
  coordinator_.order({order});
  EXPECT_EQ(wait_for_exit(task(2)).code, 0);
}

// Six lines a second, on the disk that was full.
TEST_F(FullHome, IsSaidWhenItBeginsAndWhenItIsOver) {
  start_agent();
  order({run(task(1), "exit 3")});
  wait_for_exit(task(1));
  std::filesystem::remove(home() / "reserve");
  std::filesystem::create_directory(home() / "reserve");  // where none can be made
  disk_.fill();
  const std::string trouble = "fences.json.tmp." + std::to_string(agent_->pid());
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) order({});
  const auto minutes = std::chrono::steady_clock::now() - begun + 60s;
  EXPECT_GE(lines_with(trouble), 1);
  EXPECT_LE(lines_with(trouble), minutes / 60s + 1);
  EXPECT_TRUE(reported(task(1)));
  disk_.clear();
  EXPECT_TRUE(eventually([&] {
    order({});
    return !reported(task(1));
  }));
  wait_for_log("over: ");
  EXPECT_TRUE(std::filesystem::exists(task_folder(task(1)).path())) << "there is room for it";
}

TEST(LastingTroubles, AreSaidWhenTheyBeginEveryMinuteAndWhenTheyAreOver) {
  LastingTroubles troubles;
  const Time start = from_millis(1000);
  const auto pass = [&](Duration after, const std::vector<std::string>& failed) {
    for (const std::string& text : failed) troubles.failed(text);
    return troubles.passed(start + after);
  };
  EXPECT_THAT(pass(0s, {"disk", "disk"}).to_say, ElementsAre("disk"));
  EXPECT_THAT(pass(30s, {"disk"}).to_say, IsEmpty());
  EXPECT_THAT(pass(31s, {"disk", "mount"}).to_say, ElementsAre("mount"));
  EXPECT_THAT(pass(60s, {"disk", "mount"}).to_say, ElementsAre("disk"));
  const auto over = pass(61s, {"mount"});
  EXPECT_THAT(over.to_say, IsEmpty());
  EXPECT_THAT(over.over, ElementsAre("disk"));
  EXPECT_THAT(pass(62s, {"disk"}).to_say, ElementsAre("disk"));
}

}  // namespace
}  // namespace podium
