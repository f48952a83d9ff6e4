// How long what is kept of the experiments of a name, and what is due: beside what then goes.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "coordinator/store/checkpoint_paths.h"
#include "coordinator/store/pruner.h"
#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using std::chrono::hours;

constexpr int kSteps = 25'000;

// Jobs 1 to 3, each an experiment of its own; those of "long" and "short" have ended.
class RetentionTest : public testing::Test {
 protected:
  RetentionTest() {
    store_ = std::make_unique<Store>(home_.path(), at_once());
    start_job(*store_);
    add_job(2, "long", R"({"checkpoint":{"keep":2}})");
    add_job(3, "short", "{}");
    commit_now(*store_, {{ended(2, 100), ended(3, 200)}, {}, {}, {}});
    reader_ = store_->open_reader();
  }

  void add_job(std::int64_t id, const std::string& name, const std::string& spec) {
    commit_now(*store_, {queued_job(id, name), ExperimentText{{id}, "", "", "", "", {spec}}, {}, {}});
    commit_now(*store_, {started_attempt(id, 1, 20), {}, {}, {}});
    std::string lines, body;
    for (int step = 1; step <= kSteps; ++step) lines += metrics_line(step, step % 100);
    for (std::int64_t step = 100; step <= 400; step += 100)
      lines += R"({"type":"checkpoint","t":1700000020000,"step":)" + std::to_string(step) +
               R"(,"path":"step-)" + std::to_string(step) + R"(","bytes":1000,"seconds":0.1})" + "\n";
    append_chunk(body, {{{{id}, 1}, 0}, StreamKind::events, 0, lines});
    append_chunk(body, {{{{id}, 1}, 0}, StreamKind::out, 0, "said"});
    ASSERT_TRUE(ingest_now(*store_, body).ok());
  }

  static Event ended(std::int64_t job, int second) {
    return {at_second(second), JobStateChanged{{job}, JobState::running, JobState::succeeded, ""}};
  }

  void change(const RetentionChange& change) {
    Commit turn;
    turn.retention.push_back(change);
    commit_now(*store_, std::move(turn));
  }

  static RetentionChange rule(const std::string& experiment, Kept kept, std::optional<Duration> keep) {
    RetentionChange change{experiment};
    change.to[kept] = keep;
    return change;
  }

  // What the cluster's clock says from now on.
  void pass_time(Duration after) {
    commit_now(*store_, {{{at_second(200) + after, JobHeld{{1}}}}, {}, {}, {}});
  }

  RetentionDue due(Duration after, const std::string& experiment = "") {
    return reader_->due({kUsualRetention, at_second(200) + after, experiment, {}, 100});
  }

  std::size_t points(std::int64_t job) {
    return reader_->series({job}, "train/loss", 1'000'000).points.size();
  }
  bool has_logs(std::int64_t job) { return std::filesystem::exists(logs_of(home_.path(), {job})); }

  TempFolder home_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(RetentionTest, ARuleIsMadeChangedAndRemoved) {
  change(rule("long", Kept::logs, hours(7)));
  change(rule("long", Kept::points, kForever));
  EXPECT_EQ(reader_->retention_rules(),
            (RetentionRules{{"long", {{kForever, std::nullopt, Duration(hours(7)), std::nullopt}}}}));
  change(rule("long", Kept::points, std::nullopt));
  EXPECT_EQ(reader_->retention_rules().at("long")[Kept::points], std::nullopt);
  EXPECT_EQ(reader_->retention_rules().at("long")[Kept::logs], Duration(hours(7)))
      << "what is not named stays";
  change({.experiment = "long", .remove = true});
  EXPECT_TRUE(reader_->retention_rules().empty());
  change(rule("long", Kept::logs, std::nullopt));
  EXPECT_TRUE(reader_->retention_rules().empty()) << "all of it is as usual";
}

TEST_F(RetentionTest, WhatIsKeptForeverIsNeverDue) {
  for (const Kept kept : kAllKept) {
    change(rule("long", kept, kForever));
    change(rule("short", kept, kForever));
  }
  EXPECT_TRUE(due(2 * kForever).jobs.empty());
}

TEST_F(RetentionTest, WhatIsDueByARuleGoesAndNothingElse) {
  pass_time(hours(2));
  EXPECT_TRUE(due(hours(2)).jobs.empty());
  RetentionChange both = rule("short", Kept::points, hours(1));
  both.to[Kept::logs] = hours(1);
  change(both);
  EXPECT_TRUE(eventually([&] { return points(3) <= kThinnedFrom && !has_logs(3); }));
  EXPECT_EQ(points(2), kSteps);
  EXPECT_TRUE(has_logs(2));
  EXPECT_FALSE(reader_->history({3}, 0, 10).empty());
  EXPECT_EQ(reader_->metrics({3}).at(0).count, kSteps);
  EXPECT_TRUE(due(hours(2)).jobs.empty()) << "what has gone is not due again";
}

TEST_F(RetentionTest, ARuleThatKeepsLongerGoesBeforeWhatIsUsual) {
  change(rule("long", Kept::points, kForever));
  change(rule("long", Kept::logs, kForever));
  pass_time(hours(24 * 91));
  change(rule("long", Kept::history, kForever));  // has it looked for at once
  EXPECT_TRUE(eventually([&] { return points(3) <= kThinnedFrom && !has_logs(3); }));
  EXPECT_EQ(points(2), kSteps);
  EXPECT_TRUE(has_logs(2));
  change({.experiment = "long", .remove = true});
  EXPECT_TRUE(eventually([&] { return points(2) <= kThinnedFrom && !has_logs(2); }));
}

TEST_F(RetentionTest, TheDryRunTellsWhatGoesAndDeletesNothing) {
  RetentionRule as_if;
  for (const Kept kept : kAllKept) as_if[kept] = hours(1);
  const auto told = reader_->due({kUsualRetention, at_second(200) + hours(1), "long", as_if, 100});
  ASSERT_EQ(told.jobs.size(), 1u);
  const DueJob& job = told.jobs[0];
  EXPECT_EQ(job.job, JobId{2});
  EXPECT_EQ(job.points, kSteps - kPointsKept);
  EXPECT_EQ(job.log_bytes, 4);
  EXPECT_EQ(job.history, std::ssize(reader_->history({2}, 0, 1000)));
  ASSERT_EQ(job.checkpoints.size(), 2u) << "its worker has deleted the others";
  EXPECT_EQ(job.checkpoints[0].path, "step-400");
  EXPECT_EQ(told.all.checkpoint_bytes, 2000);
  EXPECT_EQ(points(2), kSteps);
  EXPECT_TRUE(has_logs(2));
  const auto early =
      reader_->due({kUsualRetention, at_second(100) + hours(1) - Duration(1), "long", as_if, 100});
  EXPECT_TRUE(early.jobs.empty());
}

TEST_F(RetentionTest, CheckpointsThatAJobGoesOnFromAreNotDue) {
  change(rule("long", Kept::checkpoints, hours(1)));
  change(rule("short", Kept::checkpoints, hours(1)));
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2 + 4);
  commit_now(*store_,
             {queued_job(4), ExperimentText{{4}, "", "", "", "", {R"({"resume":{"job":2}})"}}, {}, {}});
  const RetentionDue told = due(hours(1));
  ASSERT_EQ(told.jobs.size(), 2u);
  EXPECT_EQ(told.jobs[0].needed_by, JobId{4});
  EXPECT_TRUE(told.jobs[0].checkpoints.empty());
  EXPECT_EQ(told.all.checkpoints, 4);
  commit_now(*store_, {started_attempt(4, 1, 300), {}, {}, {}});
  commit_now(*store_, {{ended(4, 400)}, {}, {}, {}});
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2 + 4) << "nobody goes on from them any more";
  Database(home_.path() / "podium.db", Access::write, 100)
      .run("UPDATE jobs SET target_reached_ms = 1 WHERE id = 4");
  EXPECT_EQ(due(hours(1)).all.checkpoints, 4) << "it may be reproduced";
}

TEST_F(RetentionTest, CheckpointsWhoseWeightsAJobTakesAreNotDue) {
  change(rule("long", Kept::checkpoints, hours(1)));
  commit_now(
      *store_,
      {queued_job(4), ExperimentText{{4}, "", "", "", "", {R"({"model":{"init":{"job":2}}})"}}, {}, {}});
  const RetentionDue told = due(hours(1));
  ASSERT_EQ(told.jobs.size(), 1u);
  EXPECT_EQ(told.jobs[0].needed_by, JobId{4});
  EXPECT_TRUE(told.jobs[0].checkpoints.empty());
  commit_now(*store_, {started_attempt(4, 1, 300), {}, {}, {}});
  commit_now(*store_, {{ended(4, 400)}, {}, {}, {}});
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2) << "nobody takes them any more";
}

TEST_F(RetentionTest, CheckpointsToWhichAPathLeadsAreNotDueEither) {
  change(rule("long", Kept::checkpoints, hours(1)));
  Database database(home_.path() / "podium.db", Access::write, 100);
  database.run("INSERT INTO cluster VALUES ('one', 1, 'one/jobs')");
  const std::string jobs = "/shared/podium/one/jobs/";
  const auto takes = [&](std::int64_t id, const std::string& init) {
    commit_now(*store_, {queued_job(id),
                         ExperimentText{{id}, "", "", "", "", {R"({"model":{"init":)" + init + "}}"}},
                         {},
                         {}});
  };
  takes(4, '"' + jobs + R"(3/checkpoints")");
  takes(5, R"("models/bert")");
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2) << "job 2 is nobody's";
  takes(6, R"({"path":")" + jobs + R"(2/checkpoints/step-100","xxh3":"0123456789abcdef"})");
  EXPECT_EQ(due(hours(1)).jobs.at(0).needed_by, JobId{6});
  EXPECT_EQ(store_->open_reader()->read_by_path(), (std::map<JobId, JobId>{{{2}, {6}}, {{3}, {4}}}));
  database.run("UPDATE jobs SET ended_ms = 4102444800000 WHERE id = 6");
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2);
  EXPECT_FALSE(store_->open_reader()->read_by_path().contains({2}));
  database.run("INSERT INTO origins VALUES (5, '" + jobs +
               "2/checkpoints/step-200', 200, '0123456789abcdef')");
  EXPECT_EQ(due(hours(1)).jobs.at(0).needed_by, JobId{5}) << "as its worker told";
}

TEST(CheckpointPaths, TellWhoseTheyAre) {
  const auto job = [](const std::string& path) { return job_of_checkpoints(path, "one/jobs"); };
  EXPECT_EQ(job("one/jobs/12/checkpoints"), JobId{12}) << "relative to the data folder";
  EXPECT_EQ(job("/shared/one/jobs/12/checkpoints/step-00000200"), JobId{12});
  EXPECT_EQ(job("/shared/one/jobs/12/checkpoints"), JobId{12});
  EXPECT_EQ(job("/shared/x/../one/jobs/./12/checkpoints/"), JobId{12});
  EXPECT_EQ(job("/one/jobs/7/data/one/jobs/12/checkpoints"), JobId{12});
  for (const char* other :
       {"", "/shared/two/jobs/12/checkpoints", "/shared/one/jobs/12/checkpoints-of-old",
        "/shared/one/jobs/12", "/shared/one/jobs/x12/checkpoints", "/shared/one/jobs//checkpoints",
        "/shared/lone/jobs/12/checkpoints", "/one/jobs/99999999999999999999/checkpoints"})
    EXPECT_EQ(job(other), std::nullopt) << other;
}

// The newest two, and the best, which a training keeps beside them.
TEST_F(RetentionTest, TheBestCheckpointIsDueAsWell) {
  change(rule("kept", Kept::checkpoints, hours(1)));
  commit_now(
      *store_,
      {queued_job(4, "kept"), ExperimentText{{4}, "", "", "", "", {R"({"checkpoint":{"keep":2}})"}}, {}, {}});
  commit_now(*store_, {started_attempt(4, 1, 20), {}, {}, {}});
  const auto saved = [](int step, const std::string& best) {
    return R"({"type":"checkpoint","t":1700000020000,"step":)" + std::to_string(step) + R"(,"path":"step-)" +
           std::to_string(step) + R"(","bytes":1000)" + best + "}\n";
  };
  std::string body;
  append_chunk(body, {{{{4}, 1}, 0},
                      StreamKind::events,
                      0,
                      saved(100, R"(,"best":{"metric":"eval/f1","value":80})") +
                          saved(200, R"(,"best":{"metric":"eval/f1","value":88.5})") + saved(300, "") +
                          saved(400, "")});
  ASSERT_TRUE(ingest_now(*store_, body).ok());
  commit_now(*store_, {{ended(4, 100)}, {}, {}, {}});
  const RetentionDue told = due(hours(1));
  ASSERT_EQ(told.jobs.size(), 1u);
  std::map<std::string, std::optional<BestValue>> kept;
  for (const CheckpointView& each : told.jobs[0].checkpoints) kept[each.path] = each.best;
  EXPECT_EQ(kept, (std::map<std::string, std::optional<BestValue>>{
                      {"step-400", {}}, {"step-300", {}}, {"step-200", BestValue{"eval/f1", 88.5}}}));
  const std::vector<CheckpointView> all = reader_->checkpoints({4});
  ASSERT_EQ(all.size(), 4u);
  for (const CheckpointView& each : all) EXPECT_EQ(each.best.has_value(), each.step == 200) << each.step;
}

TEST_F(RetentionTest, APathToAModelNamesNoJob) {
  change(rule("long", Kept::checkpoints, hours(1)));
  commit_now(*store_,
             {queued_job(4), ExperimentText{{4}, "", "", "", "", {R"({"model":{"init":"2"}})"}}, {}, {}});
  EXPECT_EQ(due(hours(1)).all.checkpoints, 2);
}

TEST_F(RetentionTest, AJobThatIsQueuedAgainKeepsWhatItHas) {
  store_.reset();
  Database database(home_.path() / "podium.db", Access::write, 1000);
  Pruner pruner(database, {{hours(1), hours(1), hours(1), kForever}});
  for (int pieces = 0; points(2) == kSteps; ++pieces) {
    ASSERT_LT(pieces, 100);
    ASSERT_TRUE(pruner.prune(at_second(100) + hours(1)));
  }
  const std::size_t left = points(2);
  database.run("UPDATE jobs SET ended_ms = NULL WHERE id = 2");
  while (pruner.prune(at_second(100) + hours(1))) {
  }
  EXPECT_EQ(points(2), left);
  EXPECT_EQ(points(1), 0u);
}

TEST_F(RetentionTest, DamageIsCountedUntilItsCurveIsThinned) {
  store_.reset();
  Database database(home_.path() / "podium.db", Access::write, 1000);
  database.run(
      "INSERT INTO damaged_chunks (series, first_step, last_step, count) SELECT id, 1, 4096, 4096 FROM series"
      " WHERE job = 3 AND key = 'train/loss'");
  EXPECT_EQ(reader_->damage().chunks, 1);
  EXPECT_EQ(reader_->damage().points, 4096);
  EXPECT_EQ(reader_->metrics({3}).at(0).lost, 4096);
  EXPECT_EQ(reader_->metrics({2}).at(0).lost, 0);
  Pruner pruner(database, kUsualRetention);
  while (pruner.prune(at_second(200) + hours(24 * 90))) {
  }
  EXPECT_EQ(reader_->damage().chunks, 0);
}

int commits_left = 0;

int kill_at_last_commit(void*) {
  if (--commits_left == 0) ::kill(::getpid(), SIGKILL);
  return 0;
}

// kill -9 at a commit while curves are thinned.
TEST_F(RetentionTest, AKillInTheMiddleCostsNothingThatWasToStay) {
  store_.reset();
  for (const int commits : {1, 2, 4, 7}) {
    reader_.reset();  // what SQLite knows of its own files does not survive a fork
    const pid_t child = ::fork();
    if (child == 0) {
      Database database(home_.path() / "podium.db", Access::write, 1000);
      Pruner pruner(database, {{hours(1), kForever, hours(1), kForever}});
      commits_left = commits;
      sqlite3_commit_hook(database.handle(), kill_at_last_commit, nullptr);
      while (pruner.prune(at_second(200) + hours(1))) {
      }
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    reader_ = std::make_unique<Reader>(home_.path());
    Database database(home_.path() / "podium.db", Access::read, 100);
    Statement check(database, "PRAGMA integrity_check");
    check.start().next();
    EXPECT_EQ(check.text(0), "ok");
    for (const std::int64_t job : {2, 3}) {
      const Series kept = reader_->series({job}, "train/loss", 1'000'000).points;
      EXPECT_GE(kept.size(), 1000u);
      EXPECT_EQ(kept.front().step, 1);
      EXPECT_EQ(kept.back().step, kSteps);
    }
  }
  Database database(home_.path() / "podium.db", Access::write, 1000);
  Pruner pruner(database, {{hours(1), kForever, hours(1), kForever}});
  while (pruner.prune(at_second(200) + hours(1))) {
  }
  for (const std::int64_t job : {2, 3}) EXPECT_LE(points(job), static_cast<std::size_t>(kThinnedFrom));
}

}  // namespace
}  // namespace podium
