// A store, and what programs log to runs in it.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "coordinator/store/run_reader.h"
#include "coordinator/store/value_bits.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {

using Points = std::vector<std::tuple<std::int64_t, std::int64_t, double>>;

class Runs : public testing::Test {
 protected:
  Result<std::int64_t> change(JobId run, auto what) {
    RunChange change{to_millis(at_second(50)), run, {}};
    change.what = std::move(what);
    std::promise<Result<std::int64_t>> done;
    store_.change(std::make_shared<const RunChange>(std::move(change)),
                  [&](const Result<std::int64_t>& result) { done.set_value(result); });
    return done.get_future().get();
  }

  void log(JobId run, std::vector<RunPoint> points) {
    LogToRun log;
    log.points = std::move(points);
    const auto done = change(run, log);
    ASSERT_TRUE(done) << describe(done.errors());
  }

  // Queued together, so that many come into one transaction. What each became, in the order of the answers.
  std::vector<std::pair<std::size_t, bool>> change_at_once(const std::vector<RunChange>& changes) {
    std::vector<std::pair<std::size_t, bool>> answers;
    std::promise<void> all;
    for (std::size_t i = 0; i < changes.size(); ++i)
      store_.change(std::make_shared<const RunChange>(changes[i]),
                    [&, i](const Result<std::int64_t>& result) {
                      answers.emplace_back(i, result.ok());  // on the writer's thread
                      if (answers.size() == changes.size()) all.set_value();
                    });
    all.get_future().wait();
    return answers;
  }

  JobId track(std::int64_t number, const std::string& name = "a run") {
    Commit turn;
    turn.events = {{at_second(0), ExperimentCreated{{number}, "Default"}},
                   {at_second(0), RunTracked{{number}, {number}}}};
    turn.run = std::make_shared<const NewRun>(
        NewRun{kDefaultRunGroup, name, "ada", 1000, {{"mlflow.runName", name}}});
    commit_now(store_, std::move(turn));
    return {number};
  }

  Points history(JobId run, const std::string& key) {
    Points points;
    for (const HistoryPoint& point : reader_->runs().history(run, key, 1'000'000, {}).rows)
      points.emplace_back(point.step, point.time_ms, point.value);
    return points;
  }

  RunMetric latest(JobId run) { return reader_->runs().run(run)->data.metrics.at(0); }

  TempFolder folder_;
  Store store_{folder_.path(), at_once()};
  std::unique_ptr<Reader> reader_ = store_.open_reader();
};

}  // namespace podium
