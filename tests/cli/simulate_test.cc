// podium simulate: reading traces and clusters, timetables worked out by hand, a real trace, and the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/simulate/report.h"
#include "cli/simulate/scenario.h"
#include "common/base/file.h"
#include "common/model/node_preset.h"
#include "common/net/zstd.h"
#include "tests/cli/podium_program.h"
#include "tests/worker/shared_data.h"

namespace podium::cli {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;

const char* kFourDevices = "nodes: [{kind: cpu, devices: 4}]\n";

// The textbook's example of backfill, out of order: the last job fits before the second, the third does not.
const char* kTextbook =
    "submit,duration,devices,walltime\n"
    "2,200,1,200\n"
    "0,100,3,100\n"
    "3,97,1,97\n"
    "1,10,4,10\n";

TraceFile trace_of(const std::string& text) {
  const auto trace = parse_trace(text, "t.csv");
  EXPECT_TRUE(trace.ok()) << describe(trace.errors());
  return *trace;
}

std::string refused(const std::string& text) { return describe(parse_trace(text, "t.csv").errors()); }

Summary simulate(const std::string& cluster, const TraceFile& trace, PolicyKind policy,
                 RunOptions options = {}) {
  options.scheduling.policy = policy;
  const ClusterFile file = *parse_cluster(cluster, "c.yaml");
  options.accounts = file.accounts;
  const auto partitions = partitions_of(file, trace);
  return summarise(trace, run(trace.rows, partitions, options, [](std::size_t) {}));
}

TEST(TraceFile, ReadsOwnColumnsInAnyOrder) {
  const TraceFile trace = trace_of(
      "account,devices,duration,submit,priority,walltime,partition,per_node,note\n"
      "\"a, b\",16,2h30m,2026-03-01 12:00:00,70,3h,west,8,x\n"
      "c,1,1.5,2026-03-01T11:59:59Z,,,east,,y\n");
  ASSERT_EQ(trace.rows.size(), 2u);
  const TraceRow& row = trace.rows[1];
  EXPECT_EQ(row.line, 2) << "the later submission comes last";
  EXPECT_EQ(format_time(row.submit), "2026-03-01T12:00:00.000Z");
  EXPECT_EQ(row.work, std::chrono::minutes(150));
  EXPECT_EQ(row.walltime, std::chrono::hours(3));
  EXPECT_EQ(row.account, "a, b");
  EXPECT_EQ(row.partition, "west");
  EXPECT_EQ(row.devices * 1000 + row.per_node * 100 + row.priority, 16'870);
  EXPECT_EQ(trace.rows[0].work, Duration(1500));
  EXPECT_EQ(trace.rows[0].walltime, std::nullopt);
  EXPECT_EQ(trace.rows[0].priority, 50);
  EXPECT_EQ(trace.ignored, std::vector<std::string>{"note"});
}

TEST(TraceFile, ListsBadRowsAndGoesOn) {
  const TraceFile trace = trace_of(
      "timestamp,duration,num_gpu\r\n10,1,0\r\n\r\n10,x,1\r\n2026-02-30 "
      "00:00:00,1,1\r\n10,1\r\n10,-1,1\r\n10,1,1\r\n");
  ASSERT_EQ(trace.rows.size(), 1u);
  EXPECT_EQ(trace.rows[0].line, 8);
  std::vector<std::string> bad;
  for (const BadRow& row : trace.bad) bad.push_back(std::to_string(row.line) + ": " + row.why);
  EXPECT_EQ(
      bad,
      (std::vector<std::string>{
          "2: devices is a whole number from 1, not \"0\"", "4: duration is seconds or like 2h30m, not \"x\"",
          "5: submit is seconds or a date like 2026-03-01 12:00:00, not \"2026-02-30 00:00:00\"",
          "6: has 2 fields; the header has 3", "7: duration is seconds or like 2h30m, not \"-1\""}));
}

TEST(TraceFile, RefusesWhatIsNoTrace) {
  EXPECT_THAT(refused(""), HasSubstr("holds no jobs"));
  EXPECT_THAT(refused("submit,devices\n1,1\n"), HasSubstr("the header names no column \"duration\""));
  EXPECT_THAT(refused("submit,timestamp,duration,devices\n"), HasSubstr("tells submit a second time"));
  EXPECT_THAT(refused("submit,duration,devices\n1,1,none\n"),
              HasSubstr("no line holds a job; line 2: devices"));
}

TEST(ClusterFile, KnowsKinds) {
  const auto cluster =
      parse_cluster("nodes: [{kind: dgx-2h, count: 2, partition: nlp, labels: {switch: s1}}]", "c");
  ASSERT_TRUE(cluster.ok()) << describe(cluster.errors());
  const auto nodes = nodes_of(cluster->groups[0], 9);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[1].id.value, "dgx-2h-0010");
  EXPECT_EQ(nodes[1].devices.size(), 16u);
  EXPECT_EQ(nodes[1].devices[15].kind, "gpu");
  EXPECT_EQ(
      nodes[1].labels,
      (std::map<std::string, std::string>{
          {"kind", "dgx-2h"}, {"partition", "nlp"}, {"rail_gbps", "100"}, {"rails", "8"}, {"switch", "s1"}}));
}

TEST(ClusterFile, HangsNodesUnderSwitchesAndSpines) {
  const auto cluster = parse_cluster(
      "nodes: [{kind: dgx-a100, count: 9, network: {per_switch: 2, switches_per_spine: 2, uplink_gbps: "
      "800}}]",
      "c");
  ASSERT_TRUE(cluster.ok()) << describe(cluster.errors());
  const auto nodes = nodes_of(cluster->groups[0], 1);
  const auto place = [&](std::size_t nth) {
    return nodes.at(nth - 1).labels.at("spine") + " " + nodes.at(nth - 1).labels.at("switch");
  };
  EXPECT_EQ(place(2), "dgx-a100-spine-1 dgx-a100-leaf-1");
  EXPECT_EQ(place(3), "dgx-a100-spine-1 dgx-a100-leaf-2");
  EXPECT_EQ(place(5), "dgx-a100-spine-2 dgx-a100-leaf-3");
  EXPECT_EQ(place(9), "dgx-a100-spine-3 dgx-a100-leaf-5");
  EXPECT_EQ(nodes[0].labels.at("uplink_gbps"), "800");
  EXPECT_EQ(nodes[0].labels.at("rail_gbps"), "200");
}

// Every machine that Podium knows can be simulated, with the devices it has (node_preset.h).
TEST(ClusterFile, KnowsEveryPreset) {
  for (const std::string& name : node_preset_names()) {
    const auto cluster = parse_cluster("nodes: [{kind: " + name + "}]", "c");
    ASSERT_TRUE(cluster.ok()) << describe(cluster.errors());
    EXPECT_EQ(nodes_of(cluster->groups[0], 1).at(0).devices,
              artificial_node(*find_node_preset(name), {"x"}).devices);
  }
  EXPECT_EQ(
      nodes_of(parse_cluster("nodes: [{kind: dgx-2, devices: 4}]", "c")->groups[0], 1)[0].devices.size(), 4u);
}

TEST(ClusterFile, ReadsAccounts) {
  const auto cluster = parse_cluster(
      "nodes: [{kind: cpu}]\naccounts: {nlp: {share: 3, quota: {gpu: 64}}, nlp/bert: {limit: {gpu: 8}}}",
      "c");
  ASSERT_TRUE(cluster.ok()) << describe(cluster.errors());
  EXPECT_EQ(cluster->accounts, (std::map<std::string, AccountRules>{{"nlp", {3, {{"gpu", 64}}, {}}},
                                                                    {"nlp/bert", {1, {}, {{"gpu", 8}}}}}));
  const std::string said = describe(
      parse_cluster(
          "nodes: [{kind: cpu}]\naccounts:\n  a b: {}\n  c: {shares: 2}\n  d: {share: 0}\n  e: {quota: 3}\n",
          "c.yaml")
          .errors());
  EXPECT_THAT(said, HasSubstr("an account is written as nlp or nlp/bert"));
  EXPECT_THAT(said, HasSubstr("unknown key \"shares\"; did you mean \"share\"?"));
  EXPECT_THAT(said, HasSubstr("share is a whole number from 1 to 1000000"));
  EXPECT_THAT(said, HasSubstr("quota is a mapping from kinds of devices"));
}

TEST(ClusterFile, NamesEveryMistake) {
  const auto cluster = parse_cluster(
      "nodes:\n- {kind: dgx-h10}\n- {kind: cpu, cuont: 2}\n- {kind: cpu, count: 0}\n- {kind: cpu, partition: "
      "6214e9}\n"
      "- {count: 1}\n- {kind: cpu, network: {switches_per_spine: 2, rials: 8}}\n",
      "c.yaml");
  const std::string said = describe(cluster.errors());
  EXPECT_THAT(said, HasSubstr("c.yaml:2:10: unknown kind \"dgx-h10\"; did you mean \"dgx-h100\"?"));
  EXPECT_THAT(said, HasSubstr("unknown key \"cuont\"; did you mean \"count\"?"));
  EXPECT_THAT(said, HasSubstr("count is a whole number from 1 to 100000"));
  EXPECT_THAT(said, HasSubstr("c.yaml:5:26: must be a text; put it in quotes"));
  EXPECT_THAT(said, HasSubstr("a group needs a kind"));
  EXPECT_THAT(said, HasSubstr("unknown key \"rials\"; did you mean \"rails\"?"));
  EXPECT_THAT(said, HasSubstr("switches_per_spine needs per_switch"));
  EXPECT_FALSE(parse_cluster("- 1", "c.yaml").ok());
}

TEST(Partitions, AreDerivedWhereTheClusterLacksThem) {
  const TraceFile trace = trace_of(
      "submit,duration,devices,vc\n"
      "0,100,2,known\n0,100,1,large\n50,10,17,large\n0,100,8,busy\n0,100,8,busy\n0,100,8,busy\n");
  const auto cluster = *parse_cluster("nodes: [{kind: dgx-1v, count: 3, partition: known}]", "c");
  const auto partitions = partitions_of(cluster, trace);
  ASSERT_EQ(partitions.size(), 3u);
  EXPECT_EQ(partitions[0].name, "busy");
  EXPECT_EQ(partitions[0].devices(), 32) << "24 on average, and never quite full";
  EXPECT_EQ(partitions[1].name, "known");
  EXPECT_EQ(partitions[1].devices(), 24);
  EXPECT_FALSE(partitions[1].derived);
  EXPECT_EQ(partitions[2].devices(), 24) << "17 for the largest gang";
  EXPECT_EQ(partitions_of(*parse_cluster(kFourDevices, "c"), trace).size(), 1u);
}

TEST(Simulation, AnElasticJobTakesTheDevicesThereAre) {
  const TraceFile trace =
      trace_of("submit,duration,devices,max_devices,walltime\n0,100,1,4,200\n0,100,1,,200\n");
  EXPECT_EQ(trace.rows[0].max_devices, 4);
  const Summary figures = simulate(kFourDevices, trace, PolicyKind::priority_backfill);
  EXPECT_DOUBLE_EQ(figures.completion.mean, (25 + 125) / 2.0);
  EXPECT_DOUBLE_EQ(figures.lost, 0);
}

TEST(Simulation, FiguresOfFifoByHand) {
  const Summary figures = simulate(kFourDevices, trace_of(kTextbook), PolicyKind::fifo);
  // 0-100, 100-110, 110-310 and 110-207.
  EXPECT_DOUBLE_EQ(figures.completion.mean, (100 + 109 + 308 + 204) / 4.0);
  EXPECT_DOUBLE_EQ(figures.completion.p50, 109);
  EXPECT_DOUBLE_EQ(figures.completion.p90, 308);
  EXPECT_DOUBLE_EQ(figures.waiting.mean, (0 + 99 + 108 + 107) / 4.0);
  EXPECT_DOUBLE_EQ(figures.slowdown.mean, (1 + 109 / 10.0 + 308 / 200.0 + 204 / 97.0) / 4);
  EXPECT_DOUBLE_EQ(figures.makespan, 310);
  EXPECT_DOUBLE_EQ(figures.utilisation, (300 + 40 + 200 + 97) / (4 * 310.0));
  EXPECT_DOUBLE_EQ(figures.utilisation_submitting, 3 / 4.0);
  EXPECT_DOUBLE_EQ(figures.idle_though_fitting, 98 / (4 * 310.0)) << "one device from 2 to 100";
  EXPECT_EQ(figures.succeeded, 4u);
  ASSERT_EQ(figures.by_size.size(), 2u);
  EXPECT_EQ(figures.by_size[0].name, "1 device");
  EXPECT_DOUBLE_EQ(figures.by_size[0].completion.mean, (308 + 204) / 2.0);
}

TEST(Simulation, FiguresOfBackfillByHand) {
  const Summary figures = simulate(kFourDevices, trace_of(kTextbook), PolicyKind::priority_backfill);
  // 0-100, 100-110, 110-310, and the last in the gap from 3 to 100.
  EXPECT_DOUBLE_EQ(figures.completion.mean, (100 + 109 + 308 + 97) / 4.0);
  EXPECT_DOUBLE_EQ(figures.idle_though_fitting, 1 / (4 * 310.0)) << "one device from 2 to 3";
  EXPECT_EQ(figures.preemptions, 0);
}

TEST(Simulation, EndsInEveryWay) {
  RunOptions options;
  options.until = seconds(500);
  const Summary figures = simulate(kFourDevices,
                                   trace_of("submit,duration,devices,walltime\n"
                                            "0,50,4,100\n0,100,1,60\n0,10,5,10\n100,900,1,1000\n"),
                                   PolicyKind::fifo, options);
  EXPECT_EQ(figures.succeeded, 1u);
  EXPECT_EQ(figures.failed, 1u) << "walltime";
  EXPECT_EQ(figures.refused, 1u);
  EXPECT_EQ(figures.unfinished, 1u);
}

TEST(Simulation, MoreNodesEndTheWait) {
  RunOptions options;
  options.add_nodes = 1;
  const TraceFile trace = trace_of("submit,duration,devices\n0,100,4\n0,100,4\n");
  EXPECT_DOUBLE_EQ(simulate(kFourDevices, trace, PolicyKind::fifo).waiting.mean, 50);
  EXPECT_DOUBLE_EQ(simulate(kFourDevices, trace, PolicyKind::fifo, options).waiting.mean, 0);
}

// Of four devices account a, with a share of 3, has three and b one, until a has none left to run.
TEST(Simulation, FairShareGoesByTheClustersAccounts) {
  std::string text = "submit,duration,devices,account\n";
  for (int i = 0; i < 16; ++i) text += "0,100,1,b\n0,100,1,a\n";
  const std::string cluster = std::string(kFourDevices) + "accounts: {a: {share: 3}}\n";
  const Summary fair = simulate(cluster, trace_of(text), PolicyKind::fair_share);
  ASSERT_EQ(fair.by_owner.size(), 2u);
  EXPECT_DOUBLE_EQ(fair.by_owner[0].completion.mean, (3 * (100 + 200 + 300 + 400 + 500) + 600) / 16.0);
  const Summary limited = simulate(std::string(kFourDevices) + "accounts: {a: {limit: {cpu: 1}}}\n",
                                   trace_of(text), PolicyKind::fifo);
  EXPECT_DOUBLE_EQ(limited.by_owner[0].completion.mean, 100 * (16 + 1) / 2.0) << "one at a time";
}

// Names of users and virtual clusters need not be names of accounts.
TEST(Simulation, TakesAnyNameForAnAccount) {
  const TraceFile trace = trace_of("submit,duration,devices,account\n0,1,1,\"a, b\"\n0,1,1,/\n0,1,1,\n");
  EXPECT_EQ(simulate(kFourDevices, trace, PolicyKind::fair_share).succeeded, 3u);
}

// Whatever the policy, no device time is made or lost.
TEST(Simulation, PhillysFirstJobs) {
  const auto path = shared_data("traces/philly_pollux/philly.csv.zst");
  if (!path) GTEST_SKIP() << "skipped: no shared data";
  TraceFile trace = trace_of(*zstd_decompress(read_file(*path), 1 << 30));
  EXPECT_EQ(trace.rows.size(), 82'247u);
  EXPECT_TRUE(trace.bad.empty());
  EXPECT_EQ(trace.ignored, std::vector<std::string>{"gpu_time"});
  trace.rows.resize(3'000);
  double work = 0;
  for (const TraceRow& row : trace.rows) work += static_cast<double>(row.work.count()) / 1000 * row.devices;
  for (const PolicyKind policy : {PolicyKind::fifo, PolicyKind::priority_backfill}) {
    const Summary figures = simulate("nodes: [{kind: dgx-1v, count: 40}]", trace, policy);
    EXPECT_EQ(figures.succeeded, trace.rows.size());
    EXPECT_NEAR(figures.utilisation * figures.makespan * static_cast<double>(figures.devices), work,
                work * 1e-9);
    EXPECT_EQ(to_json(figures), to_json(simulate("nodes: [{kind: dgx-1v, count: 40}]", trace, policy)));
  }
}

class Program : public ::testing::Test {
 protected:
  Program() {
    write("cluster.yaml", kFourDevices);
    write("jobs.csv", std::string(kTextbook) + "4,soon,1,1\n");
  }
  void write(const std::string& name, const std::string& text) {
    write_file_atomic(program_.folder() / name, text);
  }
  test::Ran simulate(std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", "--cluster", "cluster.yaml", "--trace", "jobs.csv"});
    return program_.run(more);
  }

  test::PodiumProgram program_;
};

std::string labels_of(const std::string& svg) {
  std::string all;
  for (std::size_t at = 0; (at = svg.find("<text class=\"l\"", at)) != std::string::npos; ++at) {
    const std::size_t begin = svg.find('>', at) + 1;
    all += svg.substr(begin, svg.find('<', begin) - begin) + "|";
  }
  return all;
}

TEST_F(Program, PutsPoliciesSideBySide) {
  const auto ran = simulate({"--policy", "fifo", "--compare", "priority-backfill", "--plot", "plot.svg"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4 jobs submitted over 3s (jobs.csv), 4 devices\n"));
  EXPECT_THAT(ran.out, HasSubstr("1 of 5 lines skipped:\n  jobs.csv:6: duration is seconds"));
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("completion time, mean +3m00s +2m33s .×0.852.\n"));
  const std::string plot = read_file(program_.folder() / "plot.svg");
  EXPECT_TRUE(plot.starts_with("<svg ") && plot.ends_with("</svg>\n"));
  EXPECT_THAT(plot, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_EQ(labels_of(plot), "0 %|25 %|50 %|75 %|100 %|0|1|2|3|0s|2m|4m|fifo|priority-backfill|");
}

TEST_F(Program, TellsOneRunsPercentilesByGangAndAccount) {
  const auto ran = simulate({"--policy", "fifo"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("GANG +JOBS +TIME +MEAN +MEDIAN +90 % +99 %\n"));
  EXPECT_THAT(ran.out,
              ::testing::ContainsRegex("\n1 device +[0-9]+ +waiting +[0-9hms]+ +[0-9hms]+ +[0-9hms]+"));
}

TEST_F(Program, SpeaksJson) {
  const auto ran = simulate({"--json", "--add-nodes", "1"});
  const json said = json::parse(ran.out);
  ASSERT_EQ(said["runs"].size(), 2u);
  EXPECT_EQ(said["runs"][0]["name"], "priority-backfill");
  EXPECT_EQ(said["runs"][0]["completion_s"]["mean"], 153.5);
  EXPECT_EQ(said["runs"][1]["name"], "priority-backfill +1 node");
  EXPECT_EQ(said["runs"][1]["devices"], 8);
  EXPECT_EQ(said["skipped"][0]["line"], 6);
}

TEST_F(Program, AddsNodesOfAKind) {
  const json said = json::parse(simulate({"--json", "--add-nodes", "2:cpu"}).out);
  EXPECT_EQ(said["runs"][1]["name"], "priority-backfill +2 cpu nodes");
  EXPECT_EQ(said["runs"][1]["devices"], 6);
  EXPECT_EQ(simulate({"--add-nodes", "2:dgx"}).status, 2);
  EXPECT_EQ(simulate({"--add-nodes", "two"}).status, 2);
  const auto ran = simulate({"--add-nodes", "2:dgx-2"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err,
              HasSubstr("dgx-2 nodes have gpu devices; the jobs run on cpu devices, like those of cpu"));
}

TEST_F(Program, MistakesSayWhatToDo) {
  EXPECT_EQ(simulate({"--policy", "best"}).status, 2);
  EXPECT_EQ(simulate({"--until", "soon"}).status, 2);
  write("cluster.yaml", "nodes: [{kind: dgx}]\n");
  const auto ran = simulate({});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("cluster.yaml:1:16: unknown kind \"dgx\""));
  std::filesystem::remove(program_.folder() / "jobs.csv");
  write("cluster.yaml", kFourDevices);
  EXPECT_EQ(simulate({}).status, 2);
}

}  // namespace
}  // namespace podium::cli
