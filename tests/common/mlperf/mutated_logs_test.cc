// Every published log holds to the rules of its round, and breaks exactly the rule that a change breaks, in
// the line that the change is in.
#include <gtest/gtest.h>

#include "tests/common/mlperf/real_logs.h"

namespace podium::mlperf {
namespace {

using nlohmann::json;
using test::Lines;
using test::RealLog;

using Found = std::vector<std::pair<std::int64_t, std::string>>;  // lines and rules

Found found_in(const Lines& lines, Round round) {
  Found found;
  for (const Finding& finding : check(read_log(lines.text()), round)) {
    found.emplace_back(finding.line, finding.rule);
    EXPECT_FALSE(finding.message.empty());
  }
  return found;
}

class MutatedLogs : public testing::Test {
 protected:
  void SetUp() override {
    if (logs.empty()) GTEST_SKIP() << "skipped: no shared data";
  }

  // The change returns what is to be found.
  template <class Change>
  void expect_each(const Change& change) {
    for (const RealLog& log : logs) {
      SCOPED_TRACE(log.name);
      Lines lines(log.text);
      const Found expected = change(lines, log);
      EXPECT_EQ(found_in(lines, log.round), expected);
    }
  }

  const std::vector<RealLog> logs = test::real_logs();
};

// As ../shared/reference/mlperf-log.md lists them, and GPT-3's of closed_gpt3.yaml.
std::vector<std::string> keys_that_stand_once(const RealLog& log) {
  std::vector<std::string> keys{"submission_org",
                                "submission_platform",
                                "submission_division",
                                "submission_benchmark",
                                "init_stop",
                                "run_start",
                                "run_stop",
                                "train_samples",
                                "eval_samples",
                                "gradient_accumulation_steps",
                                "global_batch_size",
                                "opt_base_learning_rate",
                                "opt_learning_rate_warmup_steps"};
  if (log.round <= Round{4, 0}) keys.push_back("submission_status");
  const std::vector<std::string> bert{"opt_lamb_beta_1",
                                      "opt_lamb_beta_2",
                                      "opt_lamb_weight_decay_rate",
                                      "opt_learning_rate_training_steps",
                                      "num_warmup_steps",
                                      "start_warmup_step",
                                      log.round <= Round{2, 0} ? "opt_epsilon" : "opt_lamb_epsilon"};
  const std::vector<std::string> gpt3{"max_sequence_length",
                                      "opt_name",
                                      "opt_end_learning_rate",
                                      "opt_learning_rate_decay_steps",
                                      "opt_learning_rate_decay_schedule",
                                      "opt_adam_beta_1",
                                      "opt_adam_beta_2",
                                      "opt_adam_epsilon",
                                      "opt_gradient_clip_norm",
                                      "trained_samples",
                                      "init_checkpoint_step"};
  const auto& more = log.is_bert() ? bert : gpt3;
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

TEST_F(MutatedLogs, AsPublishedTheyHoldToTheRulesOfTheirRound) {
  EXPECT_EQ(logs.size(), 7u);
  expect_each([](Lines&, const RealLog&) { return Found{}; });
}

TEST_F(MutatedLogs, ALineThatMustStandOnceIsMissedAndNotedTwice) {
  for (const RealLog& log : logs)
    for (const std::string& key : keys_that_stand_once(log)) {
      SCOPED_TRACE(log.name + " " + key);
      Lines without(log.text);
      without.erase_all(key);
      EXPECT_EQ(found_in(without, log.round), (Found{{0, key + "/one"}}));
      Lines twice(log.text);
      const int line = twice.first(key);
      twice.repeat(line);
      EXPECT_EQ(found_in(twice, log.round), (Found{{line + 1, key + "/one"}}));
    }
}

TEST_F(MutatedLogs, ALineThatMustStandIsMissed) {
  for (const std::string key : {"cache_clear", "init_start", "eval_accuracy"})
    expect_each([&](Lines& lines, const RealLog&) {
      lines.erase_all(key);
      return Found{{0, key + "/some"}};
    });
}

TEST_F(MutatedLogs, OneOfTwoKeysIsEnough) {
  expect_each([](Lines& lines, const RealLog&) {
    const bool evaluations = !lines.of("eval_start").empty();
    lines.erase_all("block_start");
    return evaluations ? Found{} : Found{{0, "eval_start/some"}};
  });
  expect_each([](Lines& lines, const RealLog&) {
    lines.erase_all("epoch_stop");
    return Found{};
  });
  expect_each([](Lines& lines, const RealLog&) {
    const bool evaluations = !lines.of("eval_stop").empty();
    for (const char* key : {"epoch_stop", "block_stop"}) lines.erase_all(key);
    return evaluations ? Found{{0, "block_stop/some"}} : Found{{0, "block_stop/some"}, {0, "eval_stop/some"}};
  });
}

TEST_F(MutatedLogs, TheOrderOfTheRunIsHeldTo) {
  expect_each([](Lines& lines, const RealLog&) {
    const int stop = lines.first("init_stop"), start = lines.first("run_start");
    lines.swap(stop, start);
    return Found{{stop, "order"}};  // where run_start is now
  });
  expect_each([](Lines& lines, const RealLog&) {
    const int stop = lines.first("init_stop");
    lines.insert(stop + 1, ":::MLLOG " + lines.at(lines.first("init_start")).dump());
    return Found{{stop, "order"}};
  });
  expect_each([](Lines& lines, const RealLog&) {
    const int block = lines.first("block_start"), start = lines.first("run_start");
    const json moved = lines.at(block);
    lines.erase(block);
    lines.insert(start, ":::MLLOG " + moved.dump());
    return Found{{start, "order"}};
  });
  expect_each([](Lines& lines, const RealLog&) {
    const int stop = lines.first("run_stop");
    const auto started = lines.at(lines.first("run_start"))["time_ms"].get<std::int64_t>();
    lines.change(stop, [&](json& line) { line["time_ms"] = started - 1; });
    return Found{{stop, "order"}};
  });
}

TEST_F(MutatedLogs, ALongInitIsNoted) {
  for (const auto& [less, too_long] : {std::pair(1, false), std::pair(0, true)})
    expect_each([&](Lines& lines, const RealLog&) {
      const int stop = lines.first("init_stop");
      const auto stopped = lines.at(stop)["time_ms"].get<std::int64_t>();
      lines.change(lines.first("init_start"),
                   [&, by = less](json& line) { line["time_ms"] = stopped - 30 * 60 * 1000 + by; });
      return too_long ? Found{{stop, "init-time"}} : Found{};
    });
}

TEST_F(MutatedLogs, ARunMustEndWithSuccess) {
  expect_each([](Lines& lines, const RealLog&) {
    const int stop = lines.first("run_stop");
    lines.change(stop, [](json& line) { line["metadata"]["status"] = "aborted"; });
    return Found{{stop, "status"}};
  });
  expect_each([](Lines& lines, const RealLog&) {
    const int stop = lines.first("run_stop");
    lines.change(stop, [](json& line) { line["metadata"].erase("status"); });
    return Found{{stop, "run_stop/value"}};
  });
}

TEST_F(MutatedLogs, TheTargetMustBeReachedWithinTheRun) {
  expect_each([](Lines& lines, const RealLog& log) {
    const int last = lines.of("eval_accuracy").back();
    lines.change(last, [&](json& line) { line["value"] = log.is_bert() ? 0.7199999 : 2.6900001; });
    return Found{{last, "target"}};
  });
  expect_each([](Lines& lines, const RealLog& log) {
    lines.change(lines.of("eval_accuracy").back(),
                 [&](json& line) { line["value"] = log.is_bert() ? 0.72 : 2.69; });
    return Found{};
  });
  expect_each([](Lines& lines, const RealLog& log) {  // what nobody believes
    const int last = lines.of("eval_accuracy").back();
    lines.change(last, [&](json& line) { line["value"] = log.is_bert() ? 1.0 : 2.6; });
    return Found{{last, "target"}};
  });
  expect_each([](Lines& lines, const RealLog&) {  // after the clock has stopped
    const int last = lines.of("eval_accuracy").back(), stop = lines.first("run_stop");
    const json moved = lines.at(last);
    lines.erase(last);
    lines.insert(stop, ":::MLLOG " + moved.dump());
    return Found{{stop, "target"}};
  });
}

TEST_F(MutatedLogs, EvaluationsKeepToTheInterval) {
  expect_each([](Lines& lines, const RealLog&) {  // one is left out
    const int second = lines.of("eval_accuracy")[1];
    lines.erase(second);
    return Found{{lines.of("eval_accuracy")[1], "evaluation-interval"}};
  });
  expect_each([](Lines& lines, const RealLog&) {  // one more than is due
    const auto evaluations = lines.of("eval_accuracy");
    const double one = lines.at(evaluations[0])["metadata"]["epoch_num"],
                 two = lines.at(evaluations[1])["metadata"]["epoch_num"];
    lines.repeat(evaluations[0]);
    lines.change(evaluations[0] + 1, [&](json& line) { line["metadata"]["epoch_num"] = (one + two) / 2; });
    return Found{{evaluations[0] + 1, "evaluation-interval"}, {evaluations[1] + 1, "evaluation-interval"}};
  });
  expect_each([](Lines& lines, const RealLog&) {  // the first comes late
    const int first = lines.first("eval_accuracy");
    for (const int number : lines.of("eval_accuracy"))
      lines.change(number, [&](json& line) {
        auto& epoch = line["metadata"]["epoch_num"];
        epoch = epoch.get<double>() * (number == first ? 1.3 : 1) +
                (number == first ? 0 : 0.3 * epoch.get<double>() / 100);
      });
    return Found{{first, "evaluation-interval"}, {lines.of("eval_accuracy")[1], "evaluation-interval"}};
  });
}

TEST_F(MutatedLogs, ValuesAreHeldTo) {
  const std::vector<std::pair<std::string, json>> wrong{
      {"submission_org", ""},         {"submission_platform", nullptr},
      {"submission_division", "any"}, {"gradient_accumulation_steps", 0},
      {"train_samples", nullptr},     {"eval_samples", ""}};
  for (const auto& [key, value] : wrong)
    expect_each([&, key = key, value = value](Lines& lines, const RealLog&) {
      lines.change(lines.first(key), [&](json& line) { line["value"] = value; });
      return Found{{lines.first(key), key + "/value"}};
    });
  expect_each([](Lines& lines, const RealLog& log) {
    lines.change(lines.first("submission_status"), [](json& line) { line["value"] = "lent"; });
    return log.round <= Round{4, 0} ? Found{{lines.first("submission_status"), "submission_status/value"}}
                                    : Found{};
  });
  expect_each([](Lines& lines, const RealLog&) {
    const int third = lines.of("eval_accuracy")[2];
    lines.change(third, [](json& line) { line["metadata"].erase("epoch_num"); });
    return Found{{third, "eval_accuracy/value"}};
  });
}

TEST_F(MutatedLogs, Gpt3sValuesAreGiven) {
  const std::vector<std::pair<std::string, json>> wrong{{"max_sequence_length", 2047},
                                                        {"opt_name", "lamb"},
                                                        {"opt_base_learning_rate", 2.5e-5},
                                                        {"opt_adam_beta_1", 0.91},
                                                        {"opt_adam_beta_2", 0.951},
                                                        {"opt_adam_epsilon", 1e-6},
                                                        {"opt_gradient_clip_norm", 0},
                                                        {"init_checkpoint_step", 0},
                                                        {"opt_learning_rate_decay_schedule", "cosine"}};
  for (const RealLog& log : logs)
    for (const auto& [key, value] : wrong) {
      if (log.is_bert()) continue;
      SCOPED_TRACE(key);
      Lines lines(log.text);
      lines.change(lines.first(key), [&, value = value](json& line) { line["value"] = value; });
      EXPECT_EQ(found_in(lines, log.round), (Found{{lines.first(key), key + "/value"}}));
    }
}

TEST_F(MutatedLogs, UpToRound21EveryTensorIsTold) {
  const auto told = [](const RealLog& log) { return log.is_bert() && log.round <= Round{2, 1}; };
  expect_each([&](Lines& lines, const RealLog& log) {
    if (lines.of("weights_initialization").size() < 8) return Found{};
    lines.erase(lines.of("weights_initialization")[7]);
    return told(log) ? Found{{0, "tensors"}} : Found{};
  });
  expect_each([&](Lines& lines, const RealLog& log) {
    if (!log.is_bert()) return Found{};
    const int last = lines.of("weights_initialization").back();
    lines.change(last, [](json& line) { line["metadata"]["tensor"] = "bert/more"; });
    return told(log) ? Found{{last, "tensors"}} : Found{};
  });
}

TEST_F(MutatedLogs, ABrokenLineIsTold) {
  for (const char* broken :
       {":::MLLOG {\"time_ms\": 1", ":::MLLOG", ":::MLLOG []", "3: :::MLLOG {\"key\": \"seed\"}"})
    expect_each([&](Lines& lines, const RealLog&) {
      const int line = lines.first("seed");
      lines.set(line, broken);
      // Lines reads no broken ones, and nothing reads it any more but the checker.
      return Found{{line, "line"}};
    });
}

TEST_F(MutatedLogs, ALogHoldsToTheRoundThatFitsIt) {
  for (const RealLog& real : logs) {
    SCOPED_TRACE(real.name);
    const Log log = read_log(real.text);
    const Round round = fitting_round({&log});
    EXPECT_TRUE(check(log, round).empty()) << to_string(round);
    EXPECT_EQ(round == kUsualRound, (Round{2, 1} < real.round)) << to_string(round);
  }
}

TEST_F(MutatedLogs, ARoundHasItsOwnRules) {
  for (const RealLog& log : logs) {
    SCOPED_TRACE(log.name);
    const Found in_3_0 = found_in(Lines(log.text), {3, 0});
    const bool older = log.round < Round{2, 1};
    EXPECT_EQ(in_3_0, older ? (Found{{0, "opt_lamb_epsilon/one"}}) : Found{});
    const Found in_2_1 = found_in(Lines(log.text), {2, 1});
    if (!log.is_bert()) {
      EXPECT_EQ(in_2_1.at(0).second, "benchmark");
    }
  }
}

}  // namespace
}  // namespace podium::mlperf
