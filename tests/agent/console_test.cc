// Metrics in a program's output reach the coordinator, each once, whatever happens on the way.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/agent/agent_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class Console : public AgentFixture {
 protected:
  static TaskOrder printing(TaskId id, const std::string& script) {
    TaskOrder order = run(id, script);
    order.launch.spec.metrics.regex = {"^step (?P<step>[0-9]+) loss (?P<loss>[0-9.]+)"};
    return order;
  }

  std::vector<json> console(TaskId id) const {
    std::vector<json> events;
    std::istringstream lines(coordinator_.stream(id, StreamKind::console));
    for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
    return events;
  }

  std::vector<std::int64_t> steps(TaskId id) const {
    std::vector<std::int64_t> steps;
    for (const json& event : console(id))
      if (event["type"] == "metrics") steps.push_back(event["step"]);
    return steps;
  }
};

TEST_F(Console, TellsMetricsBeforeTheExit) {
  coordinator_.delay_streams(300ms);
  start_agent();
  coordinator_.order({printing(task(1), "echo step 5 loss 2.5; printf 'step 6 loss 2' >&2; exit 4")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 4);
  EXPECT_THAT(steps(task(1)), UnorderedElementsAre(5, 6));
  const json event = console(task(1))[0];
  EXPECT_EQ(event["values"]["loss"], event["step"] == 5 ? 2.5 : 2.0);
  const std::int64_t told = event["t"];
  EXPECT_LT(std::abs(to_millis(SystemClock().now()) - told), 3'600'000) << "the time of day";
  EXPECT_FALSE(coordinator_.told_exit_early());
}

TEST_F(Console, HasNothingOfATaskThatAsksForNothing) {
  start_agent();
  coordinator_.order({run(task(1), "echo step 5 loss 2.5")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 0);
  EXPECT_FALSE(std::filesystem::exists(task_folder(task(1)).stream_path(StreamKind::console)));
}

// Killed again and again while its task prints and after it has ended.
TEST_F(Console, TellsEachPointOnceHoweverOftenTheAgentIsKilled) {
  constexpr int kSteps = 300;
  start_agent();
  coordinator_.order({printing(task(1),
                               "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo step $i loss 1; echo noise; "
                               "sleep 0.01; done")});
  wait_for(task(1), TaskState::running);
  for (int kill = 0; kill < 8; ++kill) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 90 * kill));
    kill_agent();
    start_agent();
  }
  EXPECT_EQ(wait_for_exit(task(1)).code, 0);
  std::vector<std::int64_t> wanted(kSteps);
  for (int i = 0; i < kSteps; ++i) wanted[static_cast<std::size_t>(i)] = i + 1;
  EXPECT_EQ(steps(task(1)), wanted);
}

// 3 million lines as fast as they can be printed.
TEST_F(Console, BoundsWhatItTellsOfAFlood) {
  start_agent();
  coordinator_.order({printing(task(1), "seq -f 'step %.0f loss 1' 1 3000000")});
  EXPECT_EQ(wait_for_exit(task(1)).code, 0);
  ASSERT_TRUE(eventually([&] { return !steps(task(1)).empty() && steps(task(1)).back() == 3'000'000; }))
      << "the last is always told";
  const auto events = console(task(1));
  EXPECT_LT(events.size(), 20'000U);
  EXPECT_EQ(std::ranges::count_if(events, [](const json& event) { return event["type"] == "note"; }), 1);
}

}  // namespace
}  // namespace podium
