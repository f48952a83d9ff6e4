// The tasks' files reach the coordinator whole, whatever happens on the way.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Delivery : public AgentFixture {
 protected:
  bool delivers(TaskId id, StreamKind kind, const std::string& text) const {
    return eventually([&] { return coordinator_.stream(id, kind) == text; });
  }
};

std::string numbers(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_F(Delivery, FollowsAGrowingFile) {
  start_agent();
  coordinator_.order({run(
      task(1),
      "echo one; until [ -e go ]; do sleep 0.01; done; echo two; until [ -e end ]; do sleep 0.01; done")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, "one\n"));
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  EXPECT_TRUE(delivers(task(1), StreamKind::out, "one\ntwo\n"));
  write_file_atomic(task_folder(task(1)).path() / "end", "");
  EXPECT_EQ(wait_for_exit(task(1)).code, 0);
}

// The coordinator judges an exit knowing what came before it.
TEST_F(Delivery, AnExitIsToldAfterTheAnswerToItsEvents) {
  coordinator_.delay_streams(300ms);
  start_agent();
  coordinator_.order({run(task(1), "echo event >> $PODIUM_EVENTS; exit 4")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 4);
  EXPECT_EQ(coordinator_.stream(task(1), StreamKind::events), "event\n");
  EXPECT_FALSE(coordinator_.told_exit_early());
}

TEST_F(Delivery, TakesLargeFilesInPieces) {
  start_agent();
  coordinator_.order({run(task(1), "seq 1 600000"), run(task(2), "seq 1 600000 >> $PODIUM_EVENTS")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(600'000)));
  EXPECT_TRUE(delivers(task(2), StreamKind::events, numbers(600'000)));
  EXPECT_EQ(coordinator_.repeated_bytes(), 0);
}

TEST_F(Delivery, HoldsBackAnUnfinishedEventUntilItsTaskEnds) {
  start_agent();
  coordinator_.order(
      {run(task(1), "printf 'whole\\nhalf' >> $PODIUM_EVENTS; until [ -e go ]; do sleep 0.01; done")});
  EXPECT_TRUE(delivers(task(1), StreamKind::events, "whole\n"));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(coordinator_.stream(task(1), StreamKind::events), "whole\n");
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  EXPECT_TRUE(delivers(task(1), StreamKind::events, "whole\nhalf"));
  EXPECT_TRUE(coordinator_.is_final(task(1), StreamKind::events));
}

TEST_F(Delivery, CatchesUpAfterAnOutage) {
  start_agent();
  coordinator_.order(
      {run(task(1),
           "echo before; until [ -e go ]; do sleep 0.01; done; seq 1 1000; echo after >> $PODIUM_EVENTS")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, "before\n"));
  coordinator_.stop();
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  ASSERT_TRUE(eventually([&] { return task_folder(task(1)).read_exit().has_value(); }));
  coordinator_.start();
  EXPECT_TRUE(delivers(task(1), StreamKind::out, "before\n" + numbers(1000)));
  EXPECT_TRUE(delivers(task(1), StreamKind::events, "after\n"));
}

TEST_F(Delivery, SendsAgainWhatWasNotAcknowledged) {
  start_agent();
  coordinator_.lose_answers(2);
  coordinator_.order({run(task(1), "seq 1 100")});
  EXPECT_TRUE(eventually([&] { return coordinator_.repeated_bytes() > 0; }));
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(100)));
}

TEST_F(Delivery, GoesBackWhenTheCoordinatorHasLess) {
  start_agent();
  coordinator_.order({run(task(1), "seq 1 100; until [ -e go ]; do sleep 0.01; done; echo end")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(100)));
  coordinator_.truncate(task(1), StreamKind::out, 50);
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(100) + "end\n"));
  EXPECT_THAT(log(), HasSubstr("the coordinator wants stdout again from byte 50"));
}

TEST_F(Delivery, GoesOnWhereAKilledAgentWas) {
  start_agent();
  coordinator_.order({run(task(1), "seq 1 1000; until [ -e go ]; do sleep 0.01; done; echo end")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(1000)));
  kill_agent();
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  start_agent();
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(1000) + "end\n"));
}

TEST_F(Delivery, AnAgentThatLeavesInOrderRepeatsNothing) {
  start_agent();
  coordinator_.order({run(task(1), "seq 1 1000; until [ -e go ]; do sleep 0.01; done; echo end")});
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(1000)));
  std::this_thread::sleep_for(100ms);  // the answer to the last piece
  agent_->signal(SIGTERM);
  agent_->wait();
  write_file_atomic(task_folder(task(1)).path() / "go", "");
  start_agent();
  EXPECT_TRUE(delivers(task(1), StreamKind::out, numbers(1000) + "end\n"));
  EXPECT_EQ(coordinator_.repeated_bytes(), 0);
}

TEST_F(Delivery, ExitsDoNotWaitForeverForTheirEvents) {
  start_agent();
  coordinator_.lose_answers(1'000'000);
  coordinator_.order({run(task(1), "echo event >> $PODIUM_EVENTS; exit 4")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 4);
}

TEST_F(Delivery, OutputOfARunningTaskDoesNotFillTheDisk) {
  start_agent({"--log-limit", "4MB"});
  coordinator_.lose_answers(1'000'000);  // as from a coordinator whose disk is full
  coordinator_.order({run(task(1), "seq 1000000 2999999; until [ -e go ]; do sleep 0.01; done; echo end")});
  constexpr std::int64_t kSize = 2'000'000 * 8;
  const TaskFolder folder = task_folder(task(1));
  ASSERT_TRUE(eventually([&] { return folder.stream_size(StreamKind::out) == kSize; }));
  const auto on_disk = [&] {
    struct stat info {};
    ::stat(folder.stream_path(StreamKind::out).c_str(), &info);
    return info.st_blocks * 512;
  };
  EXPECT_TRUE(eventually([&] { return on_disk() < 5'000'000; })) << on_disk();
  coordinator_.lose_answers(0);
  write_file_atomic(folder.path() / "go", "");
  const auto delivered = [&] { return coordinator_.stream(task(1), StreamKind::out); };
  EXPECT_TRUE(eventually([&] { return delivered().ends_with("2999999\nend\n"); }));
  EXPECT_EQ(std::ssize(delivered()), kSize + 4) << "offsets are those of the file";
  EXPECT_THAT(delivered(), testing::StartsWith("1000000\n1000001\n"));
  EXPECT_EQ(delivered().find('\0'), std::string::npos) << "what is gone is told, not made up";
}

TEST_F(Delivery, GivesUpTheOldestBeyondTheSpoolLimit) {
  start_agent({"--spool-limit", "1kB"});
  coordinator_.lose_answers(1'000'000);
  coordinator_.order({run(task(1), "seq 1 1000")});
  wait_for_exit(task(1));
  coordinator_.order({});
  EXPECT_TRUE(eventually([&] { return !reported(task(1)); }));
  EXPECT_THAT(log(), HasSubstr("task 1.1.0: 3893 bytes of its files are dropped"));
}

}  // namespace
}  // namespace podium
