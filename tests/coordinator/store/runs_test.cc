// What programs log to jobs and to tracked runs, as the tables have it.
#include "tests/coordinator/store/runs_fixture.h"

namespace podium {
namespace {

TEST(ValueBits, AreInTheOrderOfTheValues) {
  const double values[] = {-HUGE_VAL, -1e300, -1,    -5e-324,  -0.0,        0.0,
                           5e-324,    1,      1e300, HUGE_VAL, std::nan("")};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const double back = value_of_bits(bits_of_value(values[i]));
    EXPECT_TRUE(back == values[i] || (std::isnan(back) && std::isnan(values[i])));
    EXPECT_EQ(std::signbit(back), std::signbit(values[i]));
    if (i > 0) {
      EXPECT_LT(bits_of_value(values[i - 1]), bits_of_value(values[i]));
    }
  }
  EXPECT_EQ(bits_of_value(-std::nan("")), bits_of_value(std::nan("")));
}

// Thousands of points in an arbitrary order, at few steps and at many, against a set of them.
TEST_F(Runs, KeepEveryPointOnceInWhateverOrderItComes) {
  const JobId run = track(1);
  std::set<std::tuple<std::int64_t, std::int64_t, double>> all;
  std::uint64_t state = 1;
  const auto any = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<RunPoint> points;
    const std::uint64_t steps = batch % 3 == 0 ? 5 : 20'000;
    for (std::int64_t i = 0; i < 1 + any(400); ++i)
      points.push_back({"m", any(steps) - 2, any(3), static_cast<double>(any(4))});
    log(run, points);
    for (const RunPoint& point : points) all.emplace(point.step, point.time_ms, point.value);
    if (batch % 7 == 0) log(run, points);  // the answer was lost
  }
  EXPECT_EQ(history(run, "m"), Points(all.begin(), all.end()));
  const auto [step, time, value] = *all.rbegin();
  EXPECT_EQ(latest(run).step, step);
  EXPECT_EQ(latest(run).time_ms, time);
  EXPECT_EQ(latest(run).value, value);
  const Series curve = reader_->series(run, "m", 1'000'000).points;
  std::map<std::int64_t, std::tuple<std::int64_t, std::int64_t, double>> tops;
  for (const auto& point : all) tops[std::get<0>(point)] = point;
  ASSERT_EQ(curve.size(), tops.size());
  for (const SeriesPoint& point : curve) EXPECT_EQ(point.value, std::get<2>(tops.at(point.step)));
}

// Points at earlier steps wait for the end of their transaction.
TEST_F(Runs, KeepThePointsOfManyChangesOfOneTransaction) {
  const JobId runs[] = {track(1), track(2)};
  std::map<std::pair<std::int64_t, std::string>, std::set<std::tuple<std::int64_t, std::int64_t, double>>>
      all;
  std::vector<RunChange> changes;
  std::uint64_t state = 1;
  const auto any = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (int i = 0; i < 6000; ++i) {
    const JobId run = runs[any(2)];
    const RunPoint point{"m" + std::to_string(any(40)), any(100) - 50, any(3), static_cast<double>(any(4))};
    all[{run.value, point.key}].emplace(point.step, point.time_ms, point.value);
    changes.push_back({0, run, LogToRun{{point}, {}, {}}});
  }
  const auto answers = change_at_once(changes);
  for (std::size_t i = 0; i < answers.size(); ++i)
    ASSERT_EQ(answers[i], (std::pair(i, true))) << "in the order in which they came";
  for (const auto& [place, points] : all)
    EXPECT_EQ(history({place.first}, place.second), Points(points.begin(), points.end())) << place.second;
  for (const JobId run : runs) {
    const RunData data = reader_->runs().run(run)->data;
    for (const RunMetric& metric : data.metrics)
      EXPECT_EQ(std::tuple(metric.step, metric.time_ms, metric.value),
                *all.at({run.value, metric.key}).rbegin());
  }
}

TEST_F(Runs, AChangeComesAfterTheTurnThatMadeItsRun) {
  for (std::int64_t number = 1; number <= 100; ++number) {
    Commit turn;
    turn.events = {{at_second(0), ExperimentCreated{{number}, "Default"}},
                   {at_second(0), RunTracked{{number}, {number}}}};
    turn.run = std::make_shared<const NewRun>(NewRun{kDefaultRunGroup, "a run", "ada", 1000, {}});
    store_.commit(std::move(turn), [] {});
    const auto done = change({number}, LogToRun{{{"m", 1, 1, 1}}, {}, {}});
    ASSERT_TRUE(done) << describe(done.errors());
  }
}

TEST_F(Runs, AnExperimentTellsTheNewestOfItsRuns) {
  Commit turn;
  turn.events = {{at_second(0), ExperimentCreated{{1}, "Default"}}};
  for (std::int64_t number = 1; number <= 1005; ++number)
    turn.events.push_back({at_second(0), RunTracked{{number}, {1}}});
  commit_now(store_, std::move(turn));
  const std::vector<JobId> jobs = reader_->experiment({1})->jobs;
  ASSERT_EQ(jobs.size(), 1000u);
  EXPECT_EQ(jobs.front(), JobId{6});
  EXPECT_EQ(jobs.back(), JobId{1005});
  EXPECT_EQ(reader_->experiments(10, {}).at(0).jobs, jobs);
}

TEST_F(Runs, APageOfExperimentsEndsWhereTheyAreLarge) {
  std::vector<KeyValue> tags;
  for (int i = 0; i < 1000; ++i) tags.push_back({"t" + std::to_string(i), std::string(8000, 'x')});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(change({}, MakeRunGroup{"large " + std::to_string(i), "", tags}));
  RunGroupQuery query;
  const auto page = reader_->runs().search(query);
  EXPECT_LT(page.rows.size(), 7u);
  EXPECT_TRUE(page.more);
  query.offset = std::ssize(page.rows);
  EXPECT_EQ(page.rows.size() + reader_->runs().search(query).rows.size(), 7u) << "the Default, too";
}

TEST_F(Runs, AreReadInPagesThatEndAnywhere) {
  const JobId run = track(1);
  std::vector<RunPoint> points;
  for (int i = 0; i < 5000; ++i) points.push_back({"m", i / 2, i % 2, 1});
  log(run, points);
  std::optional<HistoryPoint> after;
  Points got;
  for (bool more = true; more;) {
    const auto page = reader_->runs().history(run, "m", 333, after);
    for (const HistoryPoint& point : page.rows) got.emplace_back(point.step, point.time_ms, point.value);
    EXPECT_LE(page.rows.size(), 333u);
    after = page.rows.back();
    more = page.more;
  }
  EXPECT_EQ(got, history(run, "m"));
  EXPECT_EQ(got.size(), 5000u);
  EXPECT_FALSE(reader_->runs().history(run, "m", 5000, {}).more);
  EXPECT_TRUE(reader_->runs().history(run, "m", 4999, {}).more);
}

TEST_F(Runs, ExtremesCoverPointsThatAreNotOnTheCurve) {
  const JobId run = track(1);
  log(run, {{"m", 0, 5, 3}});
  log(run, {{"m", 0, 4, -7}});
  log(run, {{"m", 0, 3, 9}});
  const MetricSummary summary = reader_->metrics(run).at(0);
  EXPECT_EQ(summary.min, -7);
  EXPECT_EQ(summary.max, 9);
  EXPECT_EQ(summary.last, 3);
  EXPECT_EQ(summary.count, 1);
}

TEST_F(Runs, AJobTakesPointsBesideThoseOfItsTasks) {
  start_job(store_);
  ASSERT_TRUE(ingest_now(store_, chunk(1, 0, metrics_line(1, 2.5) + metrics_line(2, 2.25))));
  const std::string key = reader_->metrics({1}).at(0).key;
  log({1}, {{key, 2, 99'999'999'999'999, 7}, {key, 3, 5, 1.5}});
  const Points points = history({1}, key);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(std::get<2>(points[1]), 2.25);
  EXPECT_EQ(points[2], (std::tuple(std::int64_t{2}, std::int64_t{99'999'999'999'999}, 7.0)));
  EXPECT_EQ(points[3], (std::tuple(std::int64_t{3}, std::int64_t{5}, 1.5)));
  EXPECT_EQ(reader_->series({1}, key, 1000).points.at(1).value, 2.25) << "the task's own stays on the curve";
  ASSERT_TRUE(ingest_now(
      store_, chunk(1, std::ssize(metrics_line(1, 2.5) + metrics_line(2, 2.25)), metrics_line(4, 1))));
  EXPECT_EQ(history({1}, key).size(), 5u);
}

// Before and after the task's own, at its steps, between them and beyond.
TEST_F(Runs, KeepWhatTasksAndProgramsTellOfOneMetric) {
  start_job(store_);
  std::set<std::tuple<std::int64_t, std::int64_t, double>> all;
  const auto by_program = [&](std::int64_t from, std::int64_t to, std::int64_t every) {
    std::vector<RunPoint> points;
    for (std::int64_t step = from; step < to; step += every) {
      points.push_back({"train/loss", step, 7, -1.0});
      all.emplace(step, 7, -1.0);
    }
    log({1}, points);
  };
  std::int64_t offset = 0;
  const auto by_task = [&](std::int64_t from, std::int64_t to) {
    std::string text;
    for (std::int64_t step = from; step < to; ++step) {
      text += metrics_line(step, 0.5);
      all.emplace(step, 1'700'000'000'000 + step * 100, 0.5);
    }
    ASSERT_TRUE(ingest_now(store_, chunk(1, offset, text)));
    offset += std::ssize(text);
  };
  by_program(0, 9000, 3);
  EXPECT_EQ(latest({1}).step, 8997);
  by_task(1, 100);
  EXPECT_EQ(latest({1}).step, 8997);
  by_task(100, 7000);
  by_program(1, 7000, 5);
  by_program(9001, 9003, 1);
  EXPECT_EQ(latest({1}).step, 9002);
  by_task(7000, 9001);
  EXPECT_EQ(latest({1}).step, 9002);
  EXPECT_EQ(history({1}, "train/loss"), Points(all.begin(), all.end()));
  by_task(9001, 9010);
  EXPECT_EQ(latest({1}).step, 9009);
  EXPECT_EQ(history({1}, "train/loss"), Points(all.begin(), all.end()));
  for (const SeriesPoint& point : reader_->series({1}, "train/loss", 1'000'000).points)
    EXPECT_EQ(point.value, point.step == 0 ? -1 : 0.5) << "the task's own are its curve";
}

TEST_F(Runs, AJobHasItsSpecAsParamsAndItsLabelsAsTags) {
  Commit turn{queued_job(1, "tiny"), {}, {}, {}};
  turn.experiment = ExperimentText{
      {1},
      "",
      "",
      R"({"commit":"abc","dirty":false})",
      "",
      {R"({"name":"tiny","labels":{"team":"nlp"},"training":{"optimizer":{"lr":1e-05,"weight_decay":0.5},"fp8":true,"none":null},"data":{"train":["a","b"]},"command":["x"]})"}};
  commit_now(store_, std::move(turn));
  const podium::Run run = reader_->runs().run({1}).value();
  EXPECT_EQ(run.data.params, (std::vector<KeyValue>{{"command", "[\"x\"]"},
                                                    {"data.train", "[\"a\",\"b\"]"},
                                                    {"training.fp8", "true"},
                                                    {"training.optimizer.lr", "1e-05"},
                                                    {"training.optimizer.weight_decay", "0.5"}}));
  EXPECT_EQ(run.data.tags, (std::vector<KeyValue>{{"mlflow.runName", "tiny"},
                                                  {"mlflow.source.git.commit", "abc"},
                                                  {"mlflow.user", "default"},
                                                  {"podium.job", "1"},
                                                  {"team", "nlp"}}));
  EXPECT_EQ(reader_->runs().group(run.info.group)->name, "tiny");
  EXPECT_FALSE(run.info.tracked);
}

TEST_F(Runs, AJobKeepsItsStateItsNameAndItsPlace) {
  start_job(store_);
  EXPECT_TRUE(change({1}, UpdateRun{JobState::succeeded, 5, "other"}));
  EXPECT_TRUE(change({1}, LogToRun{{}, {}, {{"mlflow.runName", "other"}, {"k", "v"}}}));
  EXPECT_FALSE(change({1}, DeleteRun{}));
  const RunInfo info = reader_->runs().info({1}).value();
  EXPECT_EQ(info.name, "tiny");
  EXPECT_EQ(info.state, JobState::running);
  EXPECT_FALSE(info.deleted);
  EXPECT_EQ(reader_->job({1})->labels, R"({"team":"nlp"})");
}

TEST_F(Runs, TagsThatPodiumGivesAJobStayAsTheyAre) {
  start_job(store_);
  for (const KeyValue& tag :
       {KeyValue{"podium.job", "2"}, {"podium.other", "x"}, {"mlflow.user", "eve"}, {"team", "x"}}) {
    const auto done = change({1}, LogToRun{{}, {{"p", "1"}}, {{"mine", "1"}, tag}});
    ASSERT_FALSE(done) << tag.key;
    EXPECT_THAT(describe(done.errors()), testing::HasSubstr("Podium's own"));
    EXPECT_FALSE(change({1}, RemoveRunTag{tag.key})) << tag.key;
  }
  EXPECT_TRUE(change({1}, LogToRun{{}, {}, {{"podium.job", "1"}, {"team", "nlp"}, {"mlflow.note", "x"}}}))
      << "as they are";
  EXPECT_TRUE(change({1}, RemoveRunTag{"mlflow.note"}));
  const auto tags = reader_->runs().run({1})->data.tags;
  EXPECT_TRUE(std::ranges::count(tags, KeyValue{"podium.job", "1"}) == 1 &&
              std::ranges::count(tags, KeyValue{"team", "nlp"}) == 1);
  EXPECT_TRUE(change(track(2), LogToRun{{}, {}, {{"podium.job", "7"}}})) << "of a run of one's own";
}

TEST_F(Runs, ATrackedRunIsAJobOfItsOwnKind) {
  const JobId run = track(1, "mine");
  track(2);
  JobView job = reader_->job(run).value();
  EXPECT_TRUE(job.tracked);
  EXPECT_EQ(job.request.name, "mine");
  EXPECT_EQ(job.devices, 0);
  EXPECT_EQ(job.state, JobState::running);
  EXPECT_TRUE(reader_->job_counts().empty()) << "those are of scheduled jobs";
  EXPECT_TRUE(reader_->studies(10, {}).empty());
  EXPECT_EQ(reader_->jobs({}).total, 2);
  JobFilter scheduled;
  scheduled.scheduled = true;
  EXPECT_EQ(reader_->jobs(scheduled).total, 0);
  ASSERT_TRUE(change(run, UpdateRun{JobState::failed, 61'000, {}}));
  job = reader_->job(run).value();
  EXPECT_EQ(job.state, JobState::failed);
  EXPECT_EQ(job.ran, std::chrono::seconds(60));
  log(run, {{"m", 12, 5, 1}});
  EXPECT_EQ(reader_->job(run)->progress->step, 12);
  EXPECT_EQ(reader_->history(run, 0, 10).back().text, "running → failed, as its program tells");
  ASSERT_TRUE(change(run, DeleteRun{}));
  EXPECT_EQ(reader_->jobs({}).total, 1);
  EXPECT_TRUE(reader_->experiment({1})->jobs.empty());
}

TEST_F(Runs, EndsAreToldOrNow) {
  const JobId run = track(1);
  ASSERT_TRUE(change(run, UpdateRun{JobState::succeeded, {}, {}}));
  EXPECT_EQ(reader_->runs().info(run)->ended_ms, to_millis(at_second(50)));
  ASSERT_TRUE(change(run, UpdateRun{JobState::succeeded, 7000, {}}));
  EXPECT_EQ(reader_->runs().info(run)->ended_ms, 7000);
  ASSERT_TRUE(change(run, UpdateRun{JobState::succeeded, {}, {}}));
  EXPECT_EQ(reader_->runs().info(run)->ended_ms, 7000) << "repeated";
  ASSERT_TRUE(change(run, UpdateRun{JobState::running, 7000, {}}));
  EXPECT_EQ(reader_->runs().info(run)->ended_ms, std::nullopt);
}

TEST_F(Runs, ARefusedChangeLeavesTheOthersOfItsTransaction) {
  const JobId run = track(1);
  std::vector<std::shared_ptr<const RunChange>> changes;
  std::vector<std::future<bool>> done;
  std::vector<std::promise<bool>> promises(300);
  for (int i = 0; i < 300; ++i) {
    RunChange one{0, run, LogToRun{{{"m", i, 1, 1}}, {{"p", std::to_string(i % 2)}}, {}}};
    done.push_back(promises[static_cast<std::size_t>(i)].get_future());
    store_.change(std::make_shared<const RunChange>(one), [&promises, i](const Result<std::int64_t>& result) {
      promises[static_cast<std::size_t>(i)].set_value(result.ok());
    });
  }
  for (int i = 0; i < 300; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)].get(), i % 2 == 0) << i;
  EXPECT_EQ(history(run, "m").size(), 150u);
}

TEST_F(Runs, AnInputKeepsTheTagsThatAreNotToldAgain) {
  const JobId run = track(1);
  const auto told = [&](const std::string& body) {
    EXPECT_TRUE(change(run, AddRunInputs{{{"dataset", "a", body}}}));
    return reader_->runs().run(run)->data.inputs.at(0).body;
  };
  const std::string bare = R"({"dataset":{"name":"a"}})";
  EXPECT_EQ(told(bare), bare);
  const std::string tagged =
      R"({"dataset":{"name":"a"},"tags":[{"key":"use","value":"train"},{"key":"b","value":"1"}]})";
  EXPECT_EQ(told(tagged), tagged);
  EXPECT_EQ(told(bare), tagged);
  EXPECT_EQ(told(R"({"dataset":{"name":"a"},"tags":[{"key":"b","value":"2"}]})"),
            R"({"dataset":{"name":"a"},"tags":[{"key":"b","value":"2"},{"key":"use","value":"train"}]})");
  EXPECT_TRUE(change(run, AddRunInputs{{{"dataset", "twice", tagged}, {"dataset", "twice", bare}}}));
  EXPECT_EQ(reader_->runs().run(run)->data.inputs.at(1).body, tagged);
  std::string many;
  for (int i = 0; i < 9'000; ++i) many += R"(,{"key":"k)" + std::to_string(i) + "\"}";
  const std::string large = R"({"dataset":{"name":"a"},"tags":[{"key":"b"})" + many + "]}";
  ASSERT_TRUE(change(run, AddRunInputs{{{"dataset", "a", large}}}));
  EXPECT_FALSE(change(
      run, AddRunInputs{{{"dataset", "a", R"({"tags":[{"key":")" + std::string(150'000, 'x') + "\"}]}"}}}))
      << "together they are too large";
}

TEST_F(Runs, EndNoSoonerThanTheyBegin) {
  const JobId run = track(1);  // at 1000
  EXPECT_TRUE(change(run, UpdateRun{JobState::succeeded, 999, {}}));
  EXPECT_EQ(reader_->runs().info(run)->ended_ms, 1000);
  Commit turn;
  turn.events = {{at_second(0), RunTracked{{2}, {1}}}};
  turn.run = std::make_shared<const NewRun>(
      NewRun{kDefaultRunGroup, "ahead", "ada", to_millis(at_second(90)), {}});  // by its program's clock
  commit_now(store_, std::move(turn));
  EXPECT_TRUE(change({2}, UpdateRun{JobState::failed, {}, {}}));
  EXPECT_EQ(reader_->runs().info({2})->ended_ms, to_millis(at_second(90)));
}

TEST_F(Runs, SurviveANewStart) {
  const JobId run = track(1);
  log(run, {{"m", 0, 5, 3}, {"m", 0, 6, 2}});
  Store again(folder_.path(), at_once());
  auto reader = again.open_reader();
  const podium::Run found = reader->runs().run(run).value();
  EXPECT_EQ(found.data.metrics.at(0).value, 2);
  EXPECT_EQ(again.load({}).state.next_job.value, 2);
}

}  // namespace
}  // namespace podium
