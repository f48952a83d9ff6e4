#include "coordinator/tracking/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace podium {
namespace {

using nlohmann::json;

ComparedJob job_with(std::int64_t id, json spec) {
  ComparedJob job;
  job.id = {id};
  job.spec = std::move(spec);
  job.nodes = 1;
  job.devices = 1;
  return job;
}

// "spec training.lr: 1 | 2", the rows that differ alone.
std::vector<std::string> differences(const std::vector<ComparedJob>& jobs) {
  std::vector<std::string> lines;
  for (const ComparedField& field : compare(jobs, 0).fields) {
    if (!field.differs) continue;
    std::string line(to_string(field.section));
    line += " " + field.key + ":";
    for (const json& value : field.values) line += " " + value.dump();
    lines.push_back(line);
  }
  return lines;
}

TEST(Comparison, TellsOnlyWhatDiffers) {
  struct Case {
    json first, second;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {{{"a", 1}}, {{"a", 1}}, {}},
      {{{"a", 1}}, {{"a", 1.0}}, {}},
      {{{"a", 1}}, {{"a", "1"}}, {"spec a: 1 \"1\""}},
      {{{"name", "x"}, {"version", 1}}, {{"name", "y"}, {"version", 1}}, {}},
      {{{"a", {{"b", {{"c", 1}}}}}}, {{"a", {{"b", {{"c", 2}}}}}}, {"spec a.b.c: 1 2"}},
      {{{"a", {1, 2}}}, {{"a", {2, 1}}}, {"spec a: [1,2] [2,1]"}},
      {{{"a", {{{"b", 1}}}}}, {{"a", {{{"b", 2}}}}}, {"spec a: [{\"b\":1}] [{\"b\":2}]"}},
      {{{"a", 1}}, json::object(), {"spec a: 1 null"}},
      {{{"env", json::object()}}, json::object(), {}},
      {{{"labels", {{"team", "x"}}}}, {{"labels", {{"team", "y"}}}}, {"labels team: \"x\" \"y\""}},
      {{{"devices", 4}},
       {{"devices", {{"min", 2}, {"max", 8}}}},
       {"spec devices: 4 null", "spec devices.max: null 8", "spec devices.min: null 2"}},
  };
  for (const Case& each : cases)
    EXPECT_EQ(differences({job_with(1, each.first), job_with(2, each.second)}), each.expected)
        << each.first << " and " << each.second;
}

TEST(Comparison, KeepsWhatIsAlikeBesideWhatDiffers) {
  const auto fields =
      compare({job_with(1, {{"a", 1}, {"b", 1}}), job_with(2, {{"a", 1}, {"b", 2}})}, 0).fields;
  std::vector<std::pair<std::string, bool>> told;
  for (const ComparedField& field : fields)
    if (field.section == FieldSection::spec) told.emplace_back(field.key, field.differs);
  EXPECT_EQ(told, (std::vector<std::pair<std::string, bool>>{{"a", false}, {"b", true}}));
}

TEST(Comparison, TellsCodeAndHardwareLikeSettings) {
  const json parallel = {{"parallel", {{"tensor", 2}, {"pipeline", 2}}}};
  ComparedJob first = job_with(1, parallel), second = job_with(2, parallel), waiting = job_with(3, parallel);
  first.source = {{"repository", "r"}, {"commit", "a"}, {"dirty", false}};
  second.source = {{"repository", "r"}, {"commit", "b"}, {"dirty", true}};
  first.text = second.text = TextIdentity{345, 12, "0123456789abcdef"};
  second.text->xxh3 = "ffffffffffffffff";
  first.devices = 8;
  second.devices = 16;
  second.nodes = 2;
  first.device_models = {"H100"};
  second.device_models = {"H100", "H200"};
  first.agent_versions = second.agent_versions = {"1.0"};
  second.artificial = true;
  waiting.nodes = 0;
  EXPECT_EQ(differences({first, second}),
            (std::vector<std::string>{"source commit: \"a\" \"b\"", "source dirty: false true",
                                      "source text: \"345 tokens in 12 sentences (XXH3 0123456789abcdef)\" "
                                      "\"345 tokens in 12 sentences (XXH3 ffffffffffffffff)\"",
                                      "hardware artificial: null true", "hardware data_parallel: 2 4",
                                      "hardware device_models: \"H100\" [\"H100\",\"H200\"]",
                                      "hardware devices: 8 16", "hardware nodes: 1 2"}));
  EXPECT_EQ(differences({first, waiting}).back(), "hardware nodes: 1 null");
}

const Outcome& outcome_of(const Comparison& comparison, Measure measure, const std::string& metric = "") {
  for (const Outcome& outcome : comparison.outcomes)
    if (outcome.measure == measure && outcome.metric == metric) return outcome;
  throw std::out_of_range(metric);
}

TargetSpec at_least(const std::string& metric, double value) { return {metric, value, std::nullopt}; }
TargetSpec at_most(const std::string& metric, double value) { return {metric, std::nullopt, value}; }

TEST(Comparison, KnowsTheBetterDirectionFromATargetOrAName) {
  ComparedJob up = job_with(1, {}), down = job_with(2, {}), none = job_with(3, {});
  up.target = at_least("eval/score", 1);
  down.target = at_most("eval/score", 1);
  const auto told = [](std::string_view metric, const std::vector<ComparedJob>& jobs) {
    const auto direction = direction_of(metric, jobs);
    return direction
               ? std::string(to_string(direction->better)) + " by " + std::string(to_string(direction->by))
               : "unknown";
  };
  EXPECT_EQ(told("eval/score", {none, up}), "more by target");
  EXPECT_EQ(told("eval/score", {down}), "less by target");
  EXPECT_EQ(told("eval/score", {down, up}), "unknown") << "targets that contradict each other";
  EXPECT_EQ(told("eval/mlm_loss", {none}), "less by name");
  EXPECT_EQ(told("eval/perplexity", {none}), "less by name");
  EXPECT_EQ(told("eval/mlm_accuracy", {none}), "more by name");
  EXPECT_EQ(told("eval/loss_scale", {none}), "unknown");
  up.target = at_least("eval/odd_loss", 1);
  EXPECT_EQ(told("eval/odd_loss", {up}), "more by target");
}

TEST(Comparison, ComparesMetricsWithTheBase) {
  ComparedJob first = job_with(1, {}), second = job_with(2, {}), third = job_with(3, {});
  second.target = at_most("eval/loss", 1);
  first.metrics = {{"eval/loss", 2.5, 2.0, 9.0, 100, 80, 10}, {"eval/other", 1, 0, 1, 100, 0, 100}};
  second.metrics = {{"eval/loss", 1.5, 1.5, 9.5, 90, 90, 10}};
  third.metrics = {{"eval/loss", std::nan(""), 4.0, 4.0, 50, std::nullopt, std::nullopt}};
  const Comparison comparison = compare({first, second, third}, 1);
  ASSERT_GE(comparison.outcomes.size(), 3u);
  EXPECT_EQ(comparison.outcomes[0].metric, "eval/loss") << "a target comes first";

  const Outcome& best = outcome_of(comparison, Measure::best, "eval/loss");
  EXPECT_EQ(best.values, (std::vector<std::optional<double>>{2.0, 1.5, 4.0}));
  EXPECT_EQ(best.steps, (std::vector<std::optional<std::int64_t>>{80, 90, std::nullopt}));
  EXPECT_EQ(best.best, std::vector<JobId>{{2}});
  EXPECT_NEAR(*best.differences[0], 1.0 / 3, 1e-12);
  EXPECT_EQ(best.differences[1], 0.0);
  const Outcome& last = outcome_of(comparison, Measure::final, "eval/loss");
  EXPECT_TRUE(std::isnan(*last.values[2]));
  EXPECT_EQ(last.differences[2], std::nullopt) << "of what is not finite nothing is told";

  EXPECT_EQ(outcome_of(comparison, Measure::final, "eval/other").values[1], std::nullopt);
  EXPECT_TRUE(outcome_of(comparison, Measure::final, "eval/other").best.empty());
  EXPECT_THROW(outcome_of(comparison, Measure::best, "eval/other"), std::out_of_range)
      << "nobody knows which of its values is best";
}

TEST(Comparison, CallsNothingBestWhereAllAreEqual) {
  ComparedJob first = job_with(1, {}), second = job_with(2, {});
  first.metrics = second.metrics = {{"eval/loss", 1, 1, 1, 1, 1, 1}};
  EXPECT_TRUE(outcome_of(compare({first, second}, 0), Measure::best, "eval/loss").best.empty());
}

TEST(Comparison, NamesAllThatShareTheBest) {
  ComparedJob first = job_with(1, {}), second = job_with(2, {}), third = job_with(3, {});
  first.metrics = third.metrics = {{"eval/accuracy", 0.9, 0, 0.9, 1, 1, 1}};
  second.metrics = {{"eval/accuracy", 0.8, 0, 0.8, 1, 1, 1}};
  EXPECT_EQ(outcome_of(compare({first, second, third}, 0), Measure::best, "eval/accuracy").best,
            (std::vector<JobId>{{1}, {3}}));
}

TEST(Comparison, CallsNoJobCheapThatHasNotBeenTrained) {
  ComparedJob done = job_with(1, {}), failed = job_with(2, {}), faster = job_with(3, {}),
              queued = job_with(4, {});
  done.time_to_train_seconds = 100;
  done.device_seconds = 800;
  failed.device_seconds = 8;
  faster.time_to_train_seconds = 50;
  faster.device_seconds = 900;
  queued.nodes = 0;
  const Comparison comparison = compare({done, failed, faster, queued}, 0);
  const Outcome& time = outcome_of(comparison, Measure::time_to_train);
  EXPECT_EQ(time.best, std::vector<JobId>{{3}});
  EXPECT_EQ(time.differences, (std::vector<std::optional<double>>{0.0, std::nullopt, -0.5, std::nullopt}));
  const Outcome& devices = outcome_of(comparison, Measure::device_time);
  EXPECT_EQ(devices.best, std::vector<JobId>{{1}});
  EXPECT_EQ(devices.values[3], std::nullopt) << "a job that waits has cost nothing yet";
}

TEST(Comparison, TakesMoreThroughputForBetter) {
  ComparedJob first = job_with(1, {}), second = job_with(2, {});
  first.throughput = {{"train/sequences_per_second", 100}};
  second.throughput = {{"train/sequences_per_second", 150}, {"train/tokens_per_second", 1}};
  const Comparison comparison = compare({first, second}, 0);
  const Outcome& sequences = outcome_of(comparison, Measure::median, "train/sequences_per_second");
  EXPECT_EQ(sequences.best, std::vector<JobId>{{2}});
  EXPECT_EQ(sequences.differences[1], 0.5);
  EXPECT_EQ(outcome_of(comparison, Measure::median, "train/tokens_per_second").differences[1], std::nullopt);
}

TEST(Comparison, OfABaseOfNothingTellsNoShares) {
  ComparedJob first = job_with(1, {}), second = job_with(2, {});
  first.restarts = 0;
  second.restarts = 3;
  EXPECT_EQ(outcome_of(compare({first, second}, 0), Measure::restarts).differences,
            (std::vector<std::optional<double>>{std::nullopt, std::nullopt}));
  first.metrics = {{"eval/loss", -2, -2, -2, 1, 1, 1}};
  second.metrics = {{"eval/loss", -1, -1, -1, 1, 1, 1}};
  EXPECT_EQ(outcome_of(compare({first, second}, 0), Measure::final, "eval/loss").differences[1], 0.5)
      << "from -2 to -1 is up, whatever the sign";
}

TEST(Comparison, MatchesNamesByPatterns) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  for (const Case& each : std::vector<Case>{{"eval/*", "eval/loss", true},
                                            {"eval/*", "train/loss", false},
                                            {"*loss", "eval/mlm_loss", true},
                                            {"*loss", "eval/loss_scale", false},
                                            {"*", "", true},
                                            {"", "a", false},
                                            {"a*b*c", "aXbXbXc", true},
                                            {"a*b*c", "aXbXbX", false},
                                            {"eval/loss", "eval/loss", true},
                                            {"eval/loss", "eval/losses", false},
                                            {"**a**", "bab", true}})
    EXPECT_EQ(matches(each.pattern, each.name), each.matches) << each.pattern << " and " << each.name;
}

}  // namespace
}  // namespace podium
