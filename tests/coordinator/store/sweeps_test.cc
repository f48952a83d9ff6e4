// Sweeps that end losing trials: what the streams tell of their rungs, and what the store keeps of them.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

constexpr char kOther[] = R"({"type":"metrics","t":1,"step":100,"values":{"train/loss":9}})"
                          "\n";

std::string told(int step, const std::string& value) {
  return R"({"type":"metrics","t":1,"step":)" + std::to_string(step) + R"(,"values":{"eval/loss":)" + value +
         "}}\n";
}

class Rungs : public testing::Test {
 protected:
  // Of job 1: "rung step value" of each word.
  std::vector<std::string> look(const std::string& text, const RungWatches& watches, bool own = true) {
    const auto streams = read_streams({"node-1"}, chunk(1, 0, text));
    std::vector<std::string> words;
    for (const RungTold& word : rungs_in(**streams, watches, [own](TaskId) { return own; }))
      words.push_back(std::to_string(word.rung) + " " + std::to_string(word.step) + " " +
                      (std::isnan(word.value) ? "NaN" : std::to_string(std::lround(word.value))));
    return words;
  }

  const RungWatches all_{{{1}, {"eval/loss", {{1, 100}, {2, 400}}}}};
};

TEST_F(Rungs, TheFirstWordAtARungsStepOrLaterCounts) {
  EXPECT_THAT(look(told(50, "9") + kOther + told(120, "7") + told(150, "6") + told(400, "5"), all_),
              testing::ElementsAre("1 120 7", "2 400 5"));
}

TEST_F(Rungs, OneWordMayReachSeveral) {
  EXPECT_THAT(look(told(500, "3"), all_), testing::UnorderedElementsAre("1 500 3", "2 500 3"));
}

TEST_F(Rungs, WhatIsNotANumberIsAWord) {
  EXPECT_THAT(look(told(100, R"("NaN")"), all_), testing::ElementsAre("1 100 NaN"));
}

TEST_F(Rungs, ALineThatIsWrittenOtherwiseIsReadAsWell) {
  EXPECT_THAT(look(R"({"values":{"eval\/loss":2},"type":"metrics","step":100,"t":1,"more":true})"
                   "\n",
                   all_),
              testing::ElementsAre("1 100 2"));
}

TEST_F(Rungs, WhatOthersTellAndWhatIsBrokenIsLeftOut) {
  EXPECT_THAT(look(told(100, "1"), all_, false), testing::IsEmpty());
  EXPECT_THAT(look(told(100, "1"), {{{2}, all_.at({1})}}), testing::IsEmpty());
  EXPECT_THAT(look(R"({"type":"metrics","t":1,"step":100,"values":{"eval/loss":)", all_), testing::IsEmpty());
  EXPECT_THAT(look(told(100, "1"), {{{1}, {"eval/los", {{1, 100}}}}}), testing::IsEmpty());
}

TEST(Sweeps, AreKeptWithWhatTheirTrialsToldAndHowFarTheyCame) {
  TempFolder home;
  Store store(home.path(), at_once());
  Commit turn;
  turn.events.push_back({at_second(0), ExperimentCreated{{1}, "x"}});
  ExperimentText text{{1}, "name: x", "x.yaml", "", "", {}};
  for (int job = 1; job <= 3; ++job) {
    turn.events.push_back({at_second(0), JobQueued{{job}, {1}, {}}});
    text.job_specs.push_back("{}");
  }
  const Asha rule{"eval/loss", Goal::max, 100, 1600, 4};
  turn.events.push_back({at_second(0), SweepBegun{{1}, rule, {1}, 3}});
  turn.events.push_back({at_second(1), RungReached{{1}, {1}, 1, {100, 2.5}}});
  turn.events.push_back({at_second(1), TrialPaused{{1}, 1, "why"}});
  turn.events.push_back({at_second(2), RungReached{{1}, {2}, 1, {120, {}}}});
  turn.events.push_back({at_second(2), TrialPaused{{2}, 1, "why"}});
  turn.events.push_back({at_second(3), TrialPromoted{{1}, 1, "why"}});
  turn.experiment = std::move(text);
  commit_now(store, std::move(turn));
  const auto reader = store.open_reader();
  EXPECT_FALSE(reader->sweep({2}));
  const std::optional<SweepView> sweep = reader->sweep({1});
  ASSERT_TRUE(sweep);
  EXPECT_EQ(sweep->rule, rule);
  EXPECT_EQ(sweep->trials.size(), 3u);
  EXPECT_EQ(sweep->trials.at({1}).rung, 2);
  EXPECT_FALSE(sweep->trials.at({1}).paused);
  EXPECT_EQ(sweep->trials.at({1}).reports.at(1), (RungReport{100, 2.5}));
  EXPECT_TRUE(sweep->trials.at({2}).paused);
  EXPECT_EQ(sweep->trials.at({2}).reports.at(1), (RungReport{120, {}}));
  EXPECT_TRUE(sweep->trials.at({3}).reports.empty());
}

// Of an attempt that still runs the promotion is no restart.
TEST(Sweeps, APromotionIsARestartOnlyAfterAPause) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {{{at_second(20), TrialPromoted{{1}, 1, "why"}}}, {}, {}, {}});
  EXPECT_EQ(store.open_reader()->job({1})->restart_counts, RestartCounts{});
  commit_now(store, {{{at_second(30), AttemptEnded{{{1}, 1}, AttemptEnd::paused, "why"}}}, {}, {}, {}});
  EXPECT_EQ(store.open_reader()->job({1})->restart_counts, RestartCounts{});
  commit_now(store, {{{at_second(40), TrialPromoted{{1}, 2, "why"}}}, {}, {}, {}});
  EXPECT_EQ(store.open_reader()->job({1})->restart_counts, RestartCounts{.promotions = 1});
}

TEST(Replicas, APromotionIsARestartOnlyAfterAPause) {
  TempFolder home;
  Store store(home.path(), at_once());
  start_job(store);
  commit_now(store, {{{at_second(20), ReplicaPromoted{{1}, "why"}}}, {}, {}, {}});
  EXPECT_EQ(store.open_reader()->job({1})->restart_counts, RestartCounts{});
  commit_now(store, {{{at_second(30), AttemptEnded{{{1}, 1}, AttemptEnd::paused, "why"}}}, {}, {}, {}});
  commit_now(store, {{{at_second(40), ReplicaPromoted{{1}, "why"}}}, {}, {}, {}});
  EXPECT_EQ(store.open_reader()->job({1})->restart_counts, RestartCounts{.promotions = 1});
}

}  // namespace
}  // namespace podium
