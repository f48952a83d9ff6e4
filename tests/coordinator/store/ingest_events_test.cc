// What the lines of a stream tell of a job: points, progress, targets, checkpoints, text and origin.
#include "tests/coordinator/store/ingest_fixture.h"

namespace podium {
namespace {

// Megatron-LM's last rank prints.
TEST_F(Ingest, TheOutputOfAnyRankTellsTheProgress) {
  Commit turn{queued_job(2), ExperimentText{{2}, "name: two", "two.yaml", "", "key-2", {"{}"}}, {}, {}};
  const AttemptId attempt{{2}, 1};
  Allocation allocation;
  for (int rank : {0, 1}) allocation.ranks.push_back({{"node-1"}, rank, rank, 2, 0, 1});
  allocation.nodes = 1;
  turn.events.push_back({at_second(10), AttemptCreated{attempt, allocation}});
  commit_now(*store_, std::move(turn));
  const std::string metric = R"({"step":7,"t":1700000000000,"type":"metrics","values":{"train/loss":4.0}})"
                             "\n";
  std::string body;
  append_chunk(body, {{attempt, 1}, StreamKind::events, 0, metric});
  next_after(body);
  EXPECT_FALSE(reader_->job({2})->progress);
  body.clear();
  append_chunk(body, {{attempt, 1}, StreamKind::console, 0, metric});
  next_after(body);
  EXPECT_EQ(reader_->job({2})->progress->step, 7);
}

TEST_F(Ingest, SpansOfTimeOfAServiceAreNoProgress) {
  next_after(chunk(1, 0,
                   R"({"step":179571117,"t":1700000000000,"type":"metrics","values":{"serve/failed":0}})"
                   "\n"));
  EXPECT_EQ(reader_->job({1})->latest.at("serve/failed"), 0);
  EXPECT_FALSE(reader_->job({1})->progress);
}

TEST_F(Ingest, TakesAStartThatSaysOnlyItsSteps) {
  next_after(chunk(1, 0,
                   R"({"type":"started","t":1,"step":0,"steps":50})"
                   "\n"));
  EXPECT_THAT(last_history(), testing::Not(testing::HasSubstr("left out")));
}

TEST_F(Ingest, LetsALaterAttemptReplaceASteps) {
  next_after(chunk(1, 0, metrics_line(1, 1) + metrics_line(2, 2) + metrics_line(3, 3)));
  commit_now(*store_, {failed_attempt(1, 1, 60), {}, {}, {}});
  commit_now(*store_, {started_attempt(1, 2, 70), {}, {}, {}});
  next_after(chunk(2, 0, metrics_line(2, 20)));
  // The first attempt's tail comes late: it fills holes and replaces nothing.
  next_after(chunk(1, std::ssize(metrics_line(1, 1)) * 3, metrics_line(2, 7) + metrics_line(4, 4)));
  ASSERT_EQ(loss().size(), 4u);
  EXPECT_EQ(loss()[0].value, 1);
  EXPECT_EQ(loss()[1].value, 20);
  EXPECT_EQ(loss()[3].value, 4);
  EXPECT_EQ(reader_->job({1})->latest.at("train/loss"), 20);
}

TEST_F(Ingest, KeepsWhatIsNotANumber) {
  next_after(chunk(1, 0,
                   "{\"type\":\"metrics\",\"t\":1,\"step\":1,\"values\":{\"train/loss\":\"NaN\"}}\n"
                   "{\"type\":\"metrics\",\"t\":2,\"step\":2,\"values\":{\"train/loss\":\"-Infinity\"}}\n"));
  EXPECT_TRUE(std::isnan(loss().at(0).value));
  EXPECT_TRUE(std::isinf(loss().at(1).value));
}

TEST_F(Ingest, TakesStartsCheckpointsAndTargets) {
  const std::string text =
      "{\"type\":\"started\",\"t\":1700000011000,\"step\":0,\"steps\":100,\"parameters\":7,\"device\":"
      "\"cpu\"}\n"
      "{\"type\":\"checkpoint\",\"t\":1700000020000,\"step\":50,\"path\":\"step-50\",\"bytes\":1000,"
      "\"seconds\":0.1}\n"
      "{\"type\":\"target\",\"t\":1700000030000,\"step\":60,\"metric\":\"eval/mlm_loss\",\"value\":1.9}\n"
      "{\"type\":\"target\",\"t\":1700000040000,\"step\":70,\"metric\":\"eval/mlm_loss\",\"value\":1.8}\n"
      "{\"type\":\"note\",\"t\":1700000041000,\"level\":\"error\",\"message\":\"out of data\"}\n";
  const auto answer = ingest_now(*store_, chunk(1, 0, text));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->news.begin()->first, JobId{1}) << "it has changed";
  const JobView job = reader_->job({1}).value();
  EXPECT_EQ(job.progress->steps, 100);
  EXPECT_EQ(job.target->reached_step, 60) << "the first time counts";
  EXPECT_EQ(job.time_to_train_seconds, 20.0);
  EXPECT_EQ(reader_->attempts({1}).at(0).first_step, 0);
  EXPECT_EQ(last_history(), "rank 0: out of data");
}

TEST_F(Ingest, KeepsWhichTextAJobTrainedOn) {
  const auto started = [](const std::string& text) {
    return R"({"type":"started","t":1,"step":0,"steps":5,"text":)" + text + "}\n";
  };
  EXPECT_EQ(reader_->text_of({1}), std::nullopt);
  const std::string unknown = started(R"({"tokens":7,"sentences":2,"xxh3":""})");
  next_after(chunk(1, 0, unknown));
  EXPECT_EQ(reader_->text_of({1}), std::nullopt);
  const std::string told = started(R"({"tokens":7,"sentences":2,"xxh3":"0123456789abcdef"})");
  const std::int64_t next = next_after(chunk(1, std::ssize(unknown), told));
  EXPECT_EQ(reader_->text_of({1}), (TextIdentity{7, 2, "0123456789abcdef"}));
  next_after(chunk(1, next, started(R"({"tokens":7,"sentences":2,"xxh3":"x"})")));
  EXPECT_THAT(last_history(), testing::HasSubstr("\"text\" is no identity of a text"));
  EXPECT_EQ(reader_->text_of({1})->tokens, 7);
}

TEST_F(Ingest, KeepsWhichCheckpointAJobBeganWith) {
  const auto started = [](const std::string& more, int step = 0) {
    return R"({"type":"started","t":1,"step":)" + std::to_string(step) + R"(,"steps":5)" + more + "}\n";
  };
  const std::int64_t plain = next_after(chunk(1, 0, started("")));
  EXPECT_EQ(reader_->origin_of({1}), std::nullopt);
  const std::string told = started(R"(,"origin":{"path":"/c/step-2","step":2,"xxh3":"0123456789abcdef"})");
  const std::int64_t next = next_after(chunk(1, plain, told));
  EXPECT_EQ(reader_->origin_of({1}), (Origin{"/c/step-2", 2, "0123456789abcdef"}));
  const std::int64_t again = next_after(chunk(1, next, started("")));
  EXPECT_TRUE(reader_->origin_of({1})) << "it stays";
  const std::int64_t bad =
      next_after(chunk(1, again, started(R"(,"origin":{"path":"/c/step-2","step":2,"xxh3":"x"})")));
  EXPECT_THAT(last_history(), testing::HasSubstr("\"origin\" is no checkpoint"));

  const std::int64_t moved = next_after(
      chunk(1, bad, started(R"(,"origin":{"path":"/d/step-2","step":2,"xxh3":"0123456789abcdef"})")));
  EXPECT_THAT(last_history(), testing::HasSubstr("training goes on")) << "it is the same, mounted elsewhere";
  const std::string other = R"(,"origin":{"path":"/c/step-3","step":3,"xxh3":"fedcba9876543210"})";
  const std::int64_t on = next_after(chunk(1, moved, started(other, 1)));
  EXPECT_EQ(reader_->origin_of({1}), (Origin{"/c/step-2", 2, "0123456789abcdef"})) << "the first stays";
  const auto warnings = [&] {
    std::vector<std::string> texts;
    for (const HistoryEntry& entry : reader_->history({1}, 0, 1000))
      if (entry.level == "warning" && entry.text.starts_with("began with")) texts.push_back(entry.text);
    return texts;
  };
  EXPECT_THAT(warnings(),
              testing::ElementsAre("began with other weights than before: those of step 3 of /c/step-3 (XXH3 "
                                   "fedcba9876543210); the job's origin stays step 2 of /c/step-2 (XXH3 "
                                   "0123456789abcdef)"));
  next_after(chunk(1, on, started(other)));
  EXPECT_EQ(reader_->origin_of({1}), (Origin{"/c/step-3", 3, "fedcba9876543210"})) << "it begins anew";
  EXPECT_THAT(warnings(), testing::Contains("began with other weights than before: those of step 3 of "
                                            "/c/step-3 (XXH3 fedcba9876543210); the job's origin stays step "
                                            "2 of /c/step-2 (XXH3 0123456789abcdef)"));
  EXPECT_THAT(notes(),
              testing::Contains("began anew with other weights than before: the job's origin is step 3 "
                                "of /c/step-3 (XXH3 fedcba9876543210) and no longer step 2 of "
                                "/c/step-2 (XXH3 0123456789abcdef)"));
}

TEST_F(Ingest, AnOriginThatIsToldLateOrAfterTheTargetReplacesNone) {
  const auto started = [](const std::string& path, const std::string& hash) {
    return R"({"type":"started","t":1,"step":0,"steps":5,"origin":{"path":")" + path +
           R"(","step":2,"xxh3":")" + hash + "\"}}\n";
  };
  const std::string first = started("/a", "aaaaaaaaaaaaaaaa"), second = started("/b", "bbbbbbbbbbbbbbbb");
  commit_now(*store_, {failed_attempt(1, 1, 60), {}, {}, {}});
  commit_now(*store_, {started_attempt(1, 2, 70), {}, {}, {}});
  const std::int64_t next = next_after(chunk(2, 0, second));
  next_after(chunk(1, 0, first));
  EXPECT_EQ(reader_->origin_of({1})->path, "/b") << "the attempt before is only heard later";
  {
    Database database(home_->path() / "podium.db", Access::write, 100);
    database.run("UPDATE jobs SET target_reached_ms = 1 WHERE id = 1");
  }
  next_after(chunk(2, next, first));
  EXPECT_EQ(reader_->origin_of({1})->path, "/b") << "its record is of these weights";
}

// It falls back to an older checkpoint, whose manifest knows nothing of the broken one.
TEST_F(Ingest, TheBestThatALaterAttemptFindsReplacesOneThatIsNoLongerThere) {
  const auto saved = [](int step, double value, const std::string& more) {
    return R"({"type":"checkpoint","t":1700000020000,"step":)" + std::to_string(step) + R"(,"path":"step-)" +
           std::to_string(step) + R"(","bytes":1000000,"best":{"metric":"eval/f1","value":)" +
           std::to_string(value) + "}" + more + "}\n";
  };
  const auto best_step = [&] {
    for (const CheckpointView& one : reader_->checkpoints({1}))
      if (one.best) return std::pair(one.step, one.best->value);
    return std::pair(std::int64_t{-1}, 0.0);
  };
  const std::int64_t first = next_after(chunk(1, 0, saved(5, 80, "")));
  next_after(chunk(1, first, saved(10, 90, "")));
  EXPECT_EQ(best_step(), std::pair(std::int64_t{10}, 90.0));
  commit_now(*store_, {failed_attempt(1, 1, 60), {}, {}, {}});
  commit_now(*store_, {started_attempt(1, 2, 70), {}, {}, {}});
  const std::int64_t again = next_after(chunk(2, 0, saved(5, 80, R"(,"again":true)")));
  EXPECT_EQ(best_step(), std::pair(std::int64_t{5}, 80.0));
  const auto told = reader_->history({1}, 0, 1000).size();
  next_after(chunk(2, again, saved(5, 80, R"(,"again":true)")));
  EXPECT_EQ(reader_->history({1}, 0, 1000).size(), told) << "known already";
}

TEST_F(Ingest, TellsWhichCheckpointIsTheBestSoFar) {
  next_after(chunk(1, 0,
                   R"({"type":"checkpoint","t":1,"step":5,"path":"step-5","bytes":1000000,)"
                   R"("best":{"metric":"eval/f1","value":88.25}})"
                   "\n"));
  EXPECT_EQ(last_history(), "checkpoint of step 5, 1.0 MB in 0.00 s: step-5; the best so far, eval/f1 88.25");
  EXPECT_EQ(reader_->checkpoints({1}).at(0).best, (BestValue{"eval/f1", 88.25}));
}

TEST_F(Ingest, WhatALaterAttemptFindsCountsWhereNobodyHasToldOfIt) {
  const auto saved = [](int step, const std::string& more) {
    return R"({"type":"checkpoint","t":1700000020000,"step":)" + std::to_string(step) + R"(,"path":"step-)" +
           std::to_string(step) + R"(","bytes":1000000)" + more + "}\n";
  };
  const std::string best = R"(,"best":{"metric":"eval/f1","value":88.25})", again = R"(,"again":true)";
  const std::int64_t first = next_after(chunk(1, 0, saved(5, R"(,"seconds":2)")));
  const auto told = reader_->history({1}, 0, 1000).size();
  const std::int64_t second = next_after(chunk(1, first, saved(5, again)));
  ASSERT_EQ(reader_->checkpoints({1}).size(), 1u);
  EXPECT_EQ(reader_->checkpoints({1})[0].seconds, 2) << "as it was told when it was saved";
  EXPECT_EQ(reader_->history({1}, 0, 1000).size(), told);
  const std::int64_t third = next_after(chunk(1, second, saved(10, best + again)));
  ASSERT_EQ(reader_->checkpoints({1}).size(), 2u);
  EXPECT_EQ(reader_->checkpoints({1})[1].best, (BestValue{"eval/f1", 88.25}));
  EXPECT_EQ(
      last_history(),
      "checkpoint of step 10, 1.0 MB, of an attempt that did not live to tell: step-10; the best so far, "
      "eval/f1 88.25");
  const std::int64_t fourth = next_after(chunk(1, third, saved(10, best + again)));
  EXPECT_EQ(reader_->history({1}, 0, 1000).size(), told + 1);
  next_after(chunk(1, fourth, saved(5, best + again)));
  EXPECT_EQ(reader_->checkpoints({1})[0].best, std::nullopt) << "of the two the later is the best";
  EXPECT_EQ(reader_->history({1}, 0, 1000).size(), told + 2) << "that it is the best is news";
}

TEST_F(Ingest, ACommandsMetricReachesItsTargetByItself) {
  const auto loss_line = [](std::int64_t step, double value) {
    std::string line = metrics_line(step, value);
    return line.replace(line.find("train/loss"), 10, "eval/mlm_loss");
  };
  next_after(chunk(1, 0, loss_line(100, 2.5) + loss_line(200, 1.75) + loss_line(300, 1.5)));
  const JobView job = reader_->job({1}).value();
  ASSERT_TRUE(job.target && job.target->reached);
  EXPECT_EQ(job.target->reached_step, 200) << "the first time counts";
  EXPECT_EQ(job.time_to_train_seconds, 10.0) << "from second 10 to the line's time";
}

TEST_F(Ingest, MetricNamesOfAJobAreBounded) {
  std::string text;
  for (int i = 0; i < kMostMetrics + 100; ++i)
    text += R"({"type":"metrics","t":1,"step":1,"values":{"key-)" + std::to_string(i) + "\":1}}\n";
  const auto answer = ingest_now(*store_, chunk(1, 0, text));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->positions.at(0).next, std::ssize(text)) << "nothing is blocked";
  EXPECT_EQ(std::ssize(reader_->metrics({1})), kMostMetrics);
  EXPECT_EQ((*answer)->notes.size(), 1u) << "the agent is told, once";
  EXPECT_NE(last_history().find("2000 different metrics"), std::string::npos) << last_history();
  const std::string more = R"({"type":"metrics","t":2,"step":2,"values":{"key-5":7,"new":1,"":1}})"
                           "\n";
  next_after(chunk(1, std::ssize(text), more));
  EXPECT_EQ(reader_->series({1}, "key-5", 10).points.size(), 2u) << "those it has go on";
  const auto history = reader_->history({1}, 0, 10'000);
  EXPECT_EQ(std::ranges::count(history, "metric_refused", &HistoryEntry::type), 1);
  EXPECT_LE(reader_->job({1})->latest.size(), 51u) << "a job's view stays small";
}

TEST_F(Ingest, AMetricHasAName) {
  next_after(chunk(1, 0,
                   R"({"type":"metrics","t":2,"step":2,"values":{"":1,"named":1}})"
                   "\n"));
  ASSERT_EQ(reader_->metrics({1}).size(), 1u);
  EXPECT_EQ(reader_->metrics({1}).front().key, "named");
}

TEST_F(Ingest, AListOfMetricsAgreesWithThePoints) {
  next_after(chunk(1, 0, metrics_line(5, 3) + metrics_line(2, 7) + metrics_line(9, 4) + metrics_line(2, 1)));
  const MetricSummary metric = reader_->metrics({1}).at(0);
  EXPECT_EQ(metric.count, std::ssize(loss()));
  EXPECT_EQ(metric.first_step, 2);
  EXPECT_EQ(metric.last_step, 9);
  EXPECT_EQ(metric.last, 4);
  restart_keeping_the_disk();
  next_after(chunk(1, 4 * std::ssize(metrics_line(5, 3)), metrics_line(9, 2) + metrics_line(11, 2)));
  EXPECT_EQ(reader_->metrics({1}).at(0).count, 4);
  EXPECT_EQ(reader_->metrics({1}).at(0).last_step, 11);
}

}  // namespace
}  // namespace podium
