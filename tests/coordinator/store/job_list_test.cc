// Lists of jobs: filters, orders, pages and windows.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "coordinator/store/sqlite.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class ListOfJobs : public testing::Test {
 protected:
  ListOfJobs() : store_(home_.path(), at_once()) {
    for (std::int64_t id = 1; id <= 5; ++id) {
      const std::string spec = id % 2 ? R"({"labels":{"team":"nlp"}})" : R"({"labels":{"team":"x' OR 1"}})";
      commit_now(store_, {queued_job(id, "run-" + std::to_string(id)),
                          ExperimentText{{id}, "", "", "", "", {spec}},
                          {},
                          {}});
    }
    commit_now(store_,
               {{{at_second(1), JobStateChanged{{2}, JobState::queued, JobState::cancelled, "cancelled"}}},
                {},
                {},
                {}});
    reader_ = store_.open_reader();
  }

  std::vector<std::int64_t> found(const std::string& search) {
    JobFilter filter;
    filter.search = search;
    return ids(filter);
  }

  void write(const std::string& sql) { Database(home_.path() / "podium.db", Access::write, 1024).run(sql); }

  std::vector<std::int64_t> ids(const JobFilter& filter) {
    std::vector<std::int64_t> found;
    for (const JobView& job : reader_->jobs(filter).jobs) found.push_back(job.id.value);
    return found;
  }

  TempFolder home_;
  Store store_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(ListOfJobs, PagesFromTheNewest) {
  JobFilter filter;
  filter.limit = 2;
  const JobPage page = reader_->jobs(filter);
  EXPECT_EQ(page.total, 5);
  EXPECT_TRUE(page.more);
  filter.after = page.jobs.back().id;
  EXPECT_EQ(ids(filter), (std::vector<std::int64_t>{3, 2}));
  filter.after = JobId{2};
  EXPECT_FALSE(reader_->jobs(filter).more);
}

TEST_F(ListOfJobs, Filters) {
  JobFilter cancelled;
  cancelled.states = {JobState::cancelled, JobState::failed};
  EXPECT_EQ(ids(cancelled), (std::vector<std::int64_t>{2}));
  JobFilter named;
  named.name = "un-4";
  EXPECT_EQ(ids(named), (std::vector<std::int64_t>{4}));
  JobFilter labelled;
  labelled.label_key = "team";
  labelled.label_value = "x' OR 1";
  labelled.sort.descending = false;
  EXPECT_EQ(ids(labelled), (std::vector<std::int64_t>{2, 4}));
  JobFilter experiment;
  experiment.experiment = ExperimentId{3};
  EXPECT_EQ(ids(experiment), (std::vector<std::int64_t>{3}));
}

TEST_F(ListOfJobs, Counts) {
  const auto counts = reader_->job_counts();
  EXPECT_EQ(counts.at(JobState::queued), 4);
  EXPECT_EQ(counts.at(JobState::cancelled), 1);
  EXPECT_EQ(reader_->experiments(2, std::nullopt).front().id, ExperimentId{5});
}

// Of a million jobs the counts and an experiment's numbers are read from indexes alone.
TEST_F(ListOfJobs, TheCountsNeedNoRows) {
  Database database(home_.path() / "podium.db", Access::write, 1024);
  const auto plan = [&](const std::string& sql) {
    std::string text;
    Statement rows(database, "EXPLAIN QUERY PLAN " + sql);
    for (rows.start(); rows.next();) text += rows.text(3) + "; ";
    return text;
  };
  EXPECT_THAT(plan("SELECT state, count(*) FROM jobs WHERE 1 AND NOT deleted GROUP BY state"),
              testing::HasSubstr("COVERING INDEX jobs_by_state"));
  EXPECT_THAT(plan("SELECT state, count(*) FROM jobs WHERE NOT tracked GROUP BY state"),
              testing::HasSubstr("COVERING INDEX jobs_by_state"));
  EXPECT_THAT(plan("SELECT id FROM jobs WHERE experiment = 1 AND NOT deleted ORDER BY id"),
              testing::HasSubstr("COVERING INDEX jobs_by_experiment"));
}

TEST_F(ListOfJobs, FindsWordsAsTheSearchBoxDoes) {
  write(
      "UPDATE jobs SET account = 'nlp/bert' WHERE id = 3; UPDATE jobs SET account = 'nlp2' WHERE id = 4;"
      "UPDATE jobs SET name = 'Run 5%_a' WHERE id = 5");
  EXPECT_EQ(found("RUN-4"), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(found("#5"), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(found("3"), (std::vector<std::int64_t>{3})) << "job 3, named run-3";
  EXPECT_EQ(found("team:NL"), (std::vector<std::int64_t>{5, 3, 1}));
  EXPECT_EQ(found("  team:nlp   run-1 "), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(found("account:NLP/"), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(found("account:"), (std::vector<std::int64_t>{5, 4, 3, 2, 1}));
  EXPECT_EQ(found("5%_a"), (std::vector<std::int64_t>{5})) << "no pattern";
  EXPECT_EQ(found("%"), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(found("none:x"), std::vector<std::int64_t>());
  EXPECT_EQ(found("' OR 1 --"), std::vector<std::int64_t>());
  EXPECT_EQ(found("#99999999999999999999"), std::vector<std::int64_t>());
}

TEST_F(ListOfJobs, CountsTheStatesOfAllThatMatchOtherwise) {
  JobFilter filter;
  filter.states = {JobState::cancelled};
  filter.search = "team:x";
  filter.limit = 1;
  const JobPage page = reader_->jobs(filter);
  EXPECT_EQ(page.total, 1);
  EXPECT_EQ(page.by_state,
            (std::map<JobState, std::int64_t>{{JobState::queued, 1}, {JobState::cancelled, 1}}));
}

// Of a job, by each key: what its view says.
std::optional<double> value_in_view(const JobView& job, JobSortKey key) {
  const auto latest = [&job](std::initializer_list<const char*> metrics) -> std::optional<double> {
    for (const char* metric : metrics)
      if (job.latest.contains(metric))
        return std::isfinite(job.latest.at(metric)) ? std::optional(job.latest.at(metric)) : std::nullopt;
    return std::nullopt;
  };
  switch (key) {
    case JobSortKey::progress:
      return job.progress ? static_cast<double>(job.progress->step) / static_cast<double>(job.progress->steps)
                          : job.state == JobState::succeeded;
    case JobSortKey::loss:
      return latest({"train/loss", "train/mlm_loss", "eval/mlm_loss", "eval/loss"});
    case JobSortKey::throughput:
      return latest({"train/sequences_per_second", "train/tokens_per_second"});
    case JobSortKey::state:
      return static_cast<double>(job.state);
    case JobSortKey::devices:
      return job.devices;
    case JobSortKey::priority:
      return job.request.priority;
    case JobSortKey::submitted:
      return static_cast<double>(to_millis(job.submitted));
    case JobSortKey::time_to_train:
      return job.time_to_train_seconds;
    default:
      return static_cast<double>(job.id.value);
  }
}

TEST_F(ListOfJobs, SortsByWhatItsViewsSayAndWindowsMakeTheWhole) {
  for (std::int64_t id = 6; id <= 60; ++id)
    commit_now(
        store_,
        {queued_job(id, "run-" + std::to_string(id)), ExperimentText{{id}, "", "", "", "", {"{}"}}, {}, {}});
  write(
      "UPDATE jobs SET priority = id * 7 % 5, held_devices = id * 5 % 4, submitted_ms = id * 37 % 11;"
      "UPDATE jobs SET step = id * 13 % 10, steps = 10, progress_ms = 0 WHERE id % 3 > 0;"
      "UPDATE jobs SET state = 'succeeded', started_ms = id % 9, ended_ms = id WHERE id % 4 = 0;"
      "UPDATE jobs SET target_metric = 'm', target_at_least = 1, started_ms = id % 9 WHERE id % 5 = 0;"
      "UPDATE jobs SET target_reached_ms = id * 3 WHERE id % 10 = 0;"
      "INSERT INTO series (job, key, attempt, last_step, last_ms, last_value)"
      " SELECT id, CASE id % 3 WHEN 0 THEN 'train/loss' ELSE 'eval/loss' END, 1, 1, 1,"
      " CASE id % 7 WHEN 0 THEN NULL WHEN 1 THEN 9e999 ELSE id * 11 % 17 END FROM jobs WHERE id % 8 > 1;"
      "INSERT INTO series (job, key, attempt, last_step, last_ms, last_value)"
      " SELECT id, CASE id % 2 WHEN 0 THEN 'train/tokens_per_second' ELSE 'train/sequences_per_second' END,"
      " 1, 1, 1, id * 11 % 17 FROM jobs WHERE id % 6 > 1");
  for (const JobSortKey key :
       {JobSortKey::id, JobSortKey::state, JobSortKey::progress, JobSortKey::loss, JobSortKey::throughput,
        JobSortKey::devices, JobSortKey::priority, JobSortKey::submitted, JobSortKey::time_to_train})
    for (const bool descending : {false, true}) {
      SCOPED_TRACE(kJobSortKeys[static_cast<std::size_t>(key)]);
      JobFilter filter;
      filter.sort = {key, descending};
      const JobPage all = reader_->jobs(filter);
      ASSERT_EQ(all.jobs.size(), 60u);
      const auto rank =
          [key](const JobView& job) {  // what comes before the value, whichever way the order goes
            const bool tokens =
                key == JobSortKey::throughput && job.latest.contains("train/tokens_per_second");
            return !value_in_view(job, key) ? 2 : tokens ? 1 : 0;
          };
      EXPECT_TRUE(std::ranges::is_sorted(all.jobs, [&](const JobView& a, const JobView& b) {
        if (rank(a) != rank(b)) return rank(a) < rank(b);
        const auto of_a = value_in_view(a, key), of_b = value_in_view(b, key);
        if (of_a != of_b) return descending ? of_a > of_b : of_a < of_b;
        return a.id > b.id;
      }));
      std::vector<std::int64_t> whole, windows;
      for (const JobView& job : all.jobs) whole.push_back(job.id.value);
      filter.limit = 7;
      for (filter.offset = 0; filter.offset < 60; filter.offset += 7)
        for (const std::int64_t id : ids(filter)) windows.push_back(id);
      EXPECT_EQ(windows, whole);
    }
}

TEST_F(ListOfJobs, SortsByTexts) {
  write(
      "UPDATE jobs SET name = 'Zoo', account = 'a' WHERE id = 2; UPDATE jobs SET name = 'ape', account = 'b' "
      "WHERE id = 3");
  JobFilter filter;
  filter.sort = {JobSortKey::name, false};
  EXPECT_EQ(ids(filter), (std::vector<std::int64_t>{3, 1, 4, 5, 2}));
  filter.sort = {JobSortKey::account, true};
  EXPECT_EQ(ids(filter), (std::vector<std::int64_t>{5, 4, 1, 3, 2}));
}

}  // namespace
}  // namespace podium
