// Rules that the published logs do not show, and MLPerf's own figures.
#include "common/mlperf/check.h"

#include <gmock/gmock.h>

#include "common/mlperf/rules.h"

namespace podium::mlperf {
namespace {

using nlohmann::json;

struct Story {
  std::string text;
  std::int64_t time = 1'000'000;

  Story& say(const char* key, const json& value, const json& metadata = json::object(),
             const char* event = kPoint) {
    text += line_text({0, time += 1000, event, key, value, metadata});
    return *this;
  }
};

Story begun(const char* division, const char* benchmark, int batch, std::int64_t init_ms = 1000) {
  Story story;
  story.say("submission_org", "ACME")
      .say("submission_platform", "anvil")
      .say("submission_division", division);
  story.say("submission_benchmark", benchmark).say("submission_status", "onprem").say("cache_clear", true);
  story.say("global_batch_size", batch).say("train_samples", 1).say("eval_samples", 1);
  story.say("init_start", nullptr);
  story.time += init_ms - 1000;
  story.say("init_stop", nullptr).say("run_start", nullptr);
  story.say("block_start", nullptr, {{"first_epoch_num", 0}, {"epoch_count", 1}});
  return story;
}

Story& ended(Story& story) {
  return story.say("block_stop", nullptr, {{"first_epoch_num", 0}})
      .say("run_stop", nullptr, {{"status", "success"}});
}

std::vector<std::string> rules_broken(const std::string& text, Round round) {
  std::vector<std::string> rules;
  for (const Finding& finding : check(read_log(text), round)) rules.push_back(finding.rule);
  return rules;
}

TEST(MlperfCheck, TheOpenDivisionFixesNoHyperparameters) {
  Story story = begun("open", "bert", 448);
  story.say("eval_accuracy", 0.72, {{"epoch_num", 77}});
  EXPECT_EQ(rules_broken(ended(story).text, {3, 0}), std::vector<std::string>{});
}

TEST(MlperfCheck, TheOpenDivisionMayPrepareForFourHours) {
  constexpr std::int64_t kFourHours = 4 * 60 * 60'000;
  for (const auto& [took, rules] : {std::pair(kFourHours - 1, std::vector<std::string>{}),
                                    std::pair(kFourHours, std::vector<std::string>{"init-time"})}) {
    Story story = begun("open", "bert", 448, took);
    story.say("eval_accuracy", 0.72, {{"epoch_num", 77}});
    EXPECT_EQ(rules_broken(ended(story).text, {3, 0}), rules) << took;
  }
}

TEST(MlperfCheck, Round07AskedForLess) {
  const auto broken = [](int batch, double accuracy, Round round) {
    Story story = begun("open", "bert", batch);
    story.say("eval_accuracy", accuracy, {{"epoch_num", 77}});
    return rules_broken(ended(story).text, round);
  };
  const std::vector<std::string> none, target{"target"};
  EXPECT_EQ(broken(8191, 0.712, {0, 7}), none);
  EXPECT_EQ(broken(8191, 0.7119, {0, 7}), target);
  EXPECT_EQ(broken(8192, 0.706, {0, 7}), none);
  EXPECT_EQ(broken(8192, 0.7059, {0, 7}), target);
  EXPECT_EQ(broken(8192, 0.712, {1, 0}), target);
}

TEST(MlperfCheck, TheIntervalOfRound07IsNotKnown) {
  Story story = begun("closed", "bert", 448);
  story.say("eval_accuracy", 0.72, {{"epoch_num", 77}});
  const std::string text = ended(story).text;
  EXPECT_THAT(rules_broken(text, {1, 0}), testing::Contains("evaluation-interval"));
  EXPECT_THAT(rules_broken(text, {0, 7}), testing::Not(testing::Contains("evaluation-interval")));
}

TEST(MlperfCheck, TheRoundThatFitsIsTheOneThatIsBrokenLeast) {
  const auto fitting = [](std::vector<std::string> texts) {
    std::vector<Log> logs;
    for (const std::string& text : texts) logs.push_back(read_log(text));
    std::vector<const Log*> all;
    for (const Log& log : logs) all.push_back(&log);
    return fitting_round(all);
  };
  const auto keys = [](std::initializer_list<const char*> some) {
    Story story = begun("closed", "bert", 448);
    for (const char* key : some) story.say(key, 1);
    return ended(story).text;
  };
  EXPECT_EQ(fitting({keys({})}), kUsualRound);
  EXPECT_EQ(fitting({keys({"opt_lamb_epsilon"})}), kUsualRound);
  EXPECT_EQ(fitting({keys({"opt_epsilon", "opt_epsilon"})}), kUsualRound);
  Story older = begun("closed", "bert", 448);
  older.say("opt_epsilon", 1);
  for (const std::string& tensor : bert_tensors())
    older.say("weights_initialization", nullptr, {{"tensor", tensor}});
  const std::string text = ended(older).text;
  EXPECT_EQ(fitting({text}), (Round{2, 0}));
  EXPECT_EQ(fitting({text, keys({"opt_lamb_epsilon"}), keys({"opt_lamb_epsilon"})}), kUsualRound);
  Story lax = begun("open", "bert", 448);  // as round 0.7 would have it
  lax.say("eval_accuracy", 0.713, {{"epoch_num", 77}});
  EXPECT_EQ(fitting({ended(lax).text}), kUsualRound);
  EXPECT_EQ(fitting({"nothing"}), kUsualRound);
}

TEST(MlperfCheck, ABenchmarkWithoutRulesHereIsTold) {
  Story story = begun("closed", "resnet", 448);
  story.say("gradient_accumulation_steps", 1).say("eval_accuracy", 0.759, {{"epoch_num", 40}});
  EXPECT_EQ(rules_broken(ended(story).text, {3, 0}), std::vector<std::string>{"benchmark"});
  EXPECT_TRUE(has({3, 0}, Benchmark::gpt3));
  EXPECT_FALSE(has({2, 1}, Benchmark::gpt3));
  EXPECT_FALSE(has({5, 0}, Benchmark::gpt3));
  EXPECT_TRUE(has({5, 0}, Benchmark::bert));
}

TEST(MlperfCheck, WhatIsEvaluatedBeforeTheRunDoesNotCount) {
  Story early;
  early.say("eval_accuracy", 0.73, {{"epoch_num", 7}});
  Story story = begun("open", "bert", 448);
  EXPECT_EQ(rules_broken(early.text + ended(story).text, {3, 0}),
            (std::vector<std::string>{"order", "target"}));
  // Behind run_start, with a time before it.
  Story told = begun("open", "bert", 448);
  told.time -= 2500;
  told.say("eval_accuracy", 0.73, {{"epoch_num", 7}});
  told.time += 2500;
  EXPECT_EQ(rules_broken(ended(told).text, {3, 0}), (std::vector<std::string>{"order", "target"}));
}

TEST(MlperfCheck, TimesFallNoFurtherThanRanksClocksDiffer) {
  const auto broken = [](std::int64_t back) {
    Story story = begun("open", "bert", 448);
    story.say("eval_accuracy", 0.72, {{"epoch_num", 77}});
    story.time -= back + 1000;
    story.say("tracked_stats", 1);
    story.time += back + 1000;
    return check(read_log(ended(story).text), {3, 0});
  };
  EXPECT_TRUE(broken(1000).empty());
  ASSERT_EQ(broken(1001).size(), 1u);
  EXPECT_EQ(broken(1001)[0].rule, "times");
  EXPECT_EQ(broken(1001)[0].line, 15);
  EXPECT_EQ(broken(1001)[0].message,
            "tracked_stats has a time 1001 ms before eval_accuracy of line 14, which stands above it");
}

TEST(MlperfCheck, CountsAreNumbers) {
  for (const json& count : {json("77"), json(-1), json(nullptr)}) {
    Story story = begun("open", "bert", 448);
    story.say("eval_accuracy", 0.72, {{"epoch_num", count}});
    EXPECT_EQ(rules_broken(ended(story).text, {3, 0}), std::vector<std::string>{"eval_accuracy/value"})
        << count;
  }
  for (const char* key : {"epoch_start", "epoch_stop", "eval_start", "eval_stop", "block_stop"}) {
    Story story = begun("open", "bert", 448);
    story.say(key, nullptr, {{"epoch_num", "1"}, {"first_epoch_num", "1"}});
    story.say("eval_accuracy", 0.72, {{"epoch_num", 77}});
    EXPECT_EQ(rules_broken(ended(story).text, {3, 0}), std::vector<std::string>{std::string(key) + "/value"});
  }
}

TEST(MlperfCheck, SamplesMayBeToldAsSuch) {
  Story story = begun("closed", "gpt3", 1536);
  for (const char* key :
       {"gradient_accumulation_steps", "trained_samples", "opt_end_learning_rate",
        "opt_learning_rate_decay_steps", "opt_learning_rate_warmup_steps", "init_checkpoint_step"})
    story.say(key, 4000);
  story.say("max_sequence_length", 2048).say("opt_name", "adam").say("opt_base_learning_rate", 3e-5);
  story.say("opt_adam_beta_1", 0.9).say("opt_adam_beta_2", 0.95).say("opt_adam_epsilon", 1e-8);
  story.say("opt_gradient_clip_norm", 1).say("opt_learning_rate_decay_schedule", "cosine with linear warmup");
  story.say("eval_accuracy", 2.7, {{"samples_count", 24576}})
      .say("eval_accuracy", 2.68, {{"samples_count", 2 * 24576}});
  EXPECT_EQ(rules_broken(ended(story).text, {4, 1}), std::vector<std::string>{});
}

TEST(MlperfCheck, TheOfficialIntervals) {
  // Round v3.0's batch of 4,608 was evaluated every 200,000 samples, and 448 and 768 every 150,000.
  EXPECT_EQ(evaluation_interval(Benchmark::bert, 4608), 200'000);
  EXPECT_EQ(evaluation_interval(Benchmark::bert, 448), 150'000);
  EXPECT_EQ(evaluation_interval(Benchmark::bert, 768), 150'000);
  EXPECT_EQ(evaluation_interval(Benchmark::bert, 1), 150'000);
  EXPECT_EQ(evaluation_interval(Benchmark::bert, 65536), 900'000);
  EXPECT_EQ(evaluation_steps(Benchmark::bert, 448), 335);
  EXPECT_EQ(evaluation_steps(Benchmark::bert, 4608), 44);
  EXPECT_EQ(evaluation_steps(Benchmark::bert, 150'000), 13);  // of 1,875,000
  EXPECT_EQ(evaluation_interval(Benchmark::gpt3, 2048), 24'576);
  EXPECT_EQ(evaluation_steps(Benchmark::gpt3, 2048), 12);
  EXPECT_EQ(evaluation_steps(Benchmark::gpt3, 5000), 5);
  EXPECT_EQ(evaluation_steps(Benchmark::gpt3, 100'000), 1);
}

TEST(MlperfCheck, EveryDemandOfTheTableIsKnown) {
  for (const KeyRule& rule : key_rules())
    EXPECT_TRUE(rule.demand == nullptr || find_demand(rule.demand) != nullptr) << rule.key;
  EXPECT_EQ(bert_tensors().size(), 398u);
}

TEST(MlperfCheck, RoundsGoByTheirNames) {
  EXPECT_EQ(find_round("v2.0"), (Round{2, 0}));
  EXPECT_EQ(find_round("4.1"), kUsualRound);
  for (const char* name : {"", "v", "6.0", "3", "3.00", "vv3.0"})
    EXPECT_EQ(find_round(name), std::nullopt) << name;
  EXPECT_EQ(round_names(), "0.7, 1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0");
}

}  // namespace
}  // namespace podium::mlperf
