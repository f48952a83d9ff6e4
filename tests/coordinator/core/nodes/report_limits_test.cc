// What a node may not be believed.
#include "coordinator/core/nodes/report_limits.h"

#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {
namespace {

using ReportLimits = Nodes;

TEST_F(ReportLimits, RefusesADeviceListedTwice) {
  node_.devices.push_back(node_.devices[0]);
  EXPECT_EQ(describe(check_report({node_, {}, 0})), "/node/devices: device 0 is listed twice");
}

TEST_F(ReportLimits, RefusesIndexesThatNoDeviceHas) {
  for (const int bad : {-1, 65'536}) {
    node_.devices[0].index = bad;
    EXPECT_FALSE(check_report({node_, {}, 0}).empty()) << bad;
  }
  node_.devices[0].index = 65'535;
  EXPECT_TRUE(check_report({node_, {}, 0}).empty());
}

TEST_F(ReportLimits, RefusesAHighestJobThatThereCannotBe) {
  NodeReport report{node_, {}, 0};
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{1'000'000'000'001}}) {
    report.highest_job = bad;
    EXPECT_EQ(describe(check_report(report)), "/highest_job: there is no such job") << bad;
  }
  report.highest_job = 1'000'000'000'000;
  EXPECT_TRUE(check_report(report).empty());
}

TEST_F(ReportLimits, RefusesAReportOf40000Devices) {
  const NodeReport report{node_with("node-1", 40'000), {}, 0};
  EXPECT_EQ(describe(check_report(report)),
            "/node/devices: 40000 devices are too many; a node has at most 4096");
  EXPECT_TRUE(check_report({node_with("node-1", 2048), {}, 0}).empty()) << "what an agent can offer at most";
}

TEST_F(ReportLimits, RefusesTasksThatNoJobCanHave) {
  const auto refused = [this](TaskId task) {
    return !check_report({node_, {{task, TaskState::running, 1, {}}}, 0}).empty();
  };
  EXPECT_FALSE(refused({{{7}, 1}, 0}));
  EXPECT_FALSE(refused({{{1'000'000'000'000}, 1}, 65'535})) << "the last of all";
  EXPECT_TRUE(refused({{{1'000'000'000'001}, 1}, 0}));
  EXPECT_TRUE(refused({{{7}, 1}, 65'536}));
  for (const TaskId bad : {TaskId{{{INT64_MAX}, 1}, 0}, TaskId{{{0}, 1}, 0}, TaskId{{{7}, 0}, 0},
                           TaskId{{{7}, 1}, -1}, TaskId{{{7}, 1}, INT32_MAX}})
    EXPECT_TRUE(refused(bad)) << to_string(bad);
}

TEST_F(ReportLimits, RefusesEndedAttemptsThatNoNodeCanHaveRun) {
  const auto refused = [this](std::vector<AttemptId> ended) {
    NodeReport report{node_, {}, 0};
    report.ended = std::move(ended);
    return !check_report(report).empty();
  };
  std::vector<AttemptId> many;
  while (many.size() < kMostEnded + 20'000) many.push_back({{std::ssize(many) + 1}, 1});
  EXPECT_FALSE(refused(many));
  many.push_back({{std::ssize(many) + 1}, 1});
  EXPECT_TRUE(refused(many));
  EXPECT_TRUE(refused({{{7}, 1}, {{7}, 2}})) << "each is looked at with all ranks of its job";
  for (const AttemptId bad :
       {AttemptId{{0}, 1}, AttemptId{{INT64_MAX}, 1}, AttemptId{{7}, 0}, AttemptId{{7}, INT32_MAX}})
    EXPECT_TRUE(refused({bad})) << to_string(bad);
}

TEST_F(ReportLimits, RefusesNamesThatALineOrAPathCouldTakeForSomethingElse) {
  for (const char* bad : {"", "..", "a..b", ".a", "a\nb", "a\rb", "a\"b", "a'b", "a/b", "a b", "ä"}) {
    NodeDescription node = node_with(bad, 1);
    node.address = "10.0.0.1";
    EXPECT_FALSE(check_report({node, {}, 0}).empty()) << bad;
  }
  EXPECT_FALSE(check_report({node_with(std::string("a\0b", 3), 1), {}, 0}).empty());
  EXPECT_FALSE(check_report({node_with(std::string(64, 'a'), 1), {}, 0}).empty());
  EXPECT_TRUE(check_report({node_with(std::string(63, 'a'), 1), {}, 0}).empty());
  for (const char* bad : {"", "a b", "a\r\nX: y", "\"", "http://a/"}) {
    NodeDescription node = node_with("node-1", 1);
    node.address = bad;
    EXPECT_FALSE(check_report({node, {}, 0}).empty()) << bad;
  }
  for (const char* good : {"10.0.0.1", "fe80::1%eth0", "node-3.cluster.local"}) {
    NodeDescription node = node_with("node-1", 1);
    node.address = good;
    EXPECT_TRUE(check_report({node, {}, 0}).empty()) << good;
  }
  NodeDescription node = node_with("node-1", 1);
  node.labels = {{"rack", "r1\n"}};
  EXPECT_FALSE(check_report({node, {}, 0}).empty());
  node.labels = {{"rack", std::string(1000, 'r')}};
  EXPECT_FALSE(check_report({node, {}, 0}).empty());
}

TEST_F(ReportLimits, RefusesMoreTasksAndReadingsThanANodeHas) {
  NodeReport report{node_, std::vector<TaskReport>(20'001), 0};
  EXPECT_FALSE(check_report(report).empty());
  report.tasks.clear();
  report.readings.resize(4097);
  EXPECT_FALSE(check_report(report).empty());
}

// A program decides how long its last words are: they must not keep its node from reporting.
TEST_F(ReportLimits, CutsLongLastWordsOfATask) {
  const JobId id = run_one();
  const TaskExit exit{1, 0, std::string(100'000, 'x')};
  const auto events = turn(NodeReported{{node_, {{task(id, 0), TaskState::exited, 1, exit}}, 0}});
  ASSERT_TRUE(find<TaskExited>(events));
  EXPECT_EQ(find<TaskExited>(events)->exit.message, std::string(4096, 'x') + "…");
}

}  // namespace
}  // namespace podium
