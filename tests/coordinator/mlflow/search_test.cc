// Searches for runs against a literal evaluation of the same filter and order over the same runs in memory.
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <random>
#include <regex>

#include "coordinator/mlflow/filter.h"
#include "coordinator/store/run_reader.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium::mlflow {
namespace {

const std::string kCluster = "0123456789abcdef0123456789abcdef";

struct ModelRun {
  JobId job;
  std::string name, user;
  std::int64_t started = 0;
  bool finished = false;
  std::map<std::string, double> metrics;
  std::map<std::string, std::string> params, tags;
};

void change_now(Store& store, JobId job, auto what) {
  RunChange change{1'700'000'000'000, job, {}};
  change.what = std::move(what);
  std::promise<bool> done;
  store.change(std::make_shared<const RunChange>(std::move(change)),
               [&](const Result<std::int64_t>& result) { done.set_value(result.ok()); });
  ASSERT_TRUE(done.get_future().get());
}

class MlflowSearch : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 random(7);
    const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    for (int i = 1; i <= 150; ++i) {
      ModelRun run{
          {i}, "run " + std::to_string(any(20)), any(2) ? "ada" : "Ben", 1000 + any(40), any(2) == 0, {}, {},
          {}};
      for (const char* key : {"loss", "acc", "my metric"})
        if (any(4)) run.metrics[key] = any(10) ? any(8) / 4.0 : any(2) ? std::nan("") : HUGE_VAL;
      for (const char* key : {"lr", "model"})
        if (any(4)) run.params[key] = kTexts[static_cast<std::size_t>(any(6))];
      if (any(3)) run.tags["team"] = kTexts[static_cast<std::size_t>(any(6))];
      write(run);
      runs_.push_back(std::move(run));
    }
  }

  void write(const ModelRun& run) {
    NewRun fresh{kDefaultRunGroup, run.name, run.user, run.started, {}};
    for (const auto& [key, value] : run.tags) fresh.tags.push_back({key, value});
    Commit turn;
    if (run.job.value == 1) turn.events.push_back({at_second(0), ExperimentCreated{{1}, "Default"}});
    turn.events.push_back({at_second(0), RunTracked{run.job, {1}}});
    turn.run = std::make_shared<const NewRun>(fresh);
    commit_now(store_, std::move(turn));
    LogToRun log;
    for (const auto& [key, value] : run.metrics) {
      log.points.push_back({key, 1, 5, 100});  // of before
      log.points.push_back({key, 2, 5, value});
    }
    for (const auto& [key, value] : run.params) log.params.push_back({key, value});
    change_now(store_, run.job, log);
    if (run.finished) change_now(store_, run.job, UpdateRun{JobState::succeeded, run.started + 50, {}});
  }

  // The runs that the page has.
  std::vector<std::int64_t> found(const std::string& filter, const std::vector<std::string>& order,
                                  std::int64_t limit = 1000, std::int64_t offset = 0) {
    RunQuery query;
    query.cluster = kCluster;
    query.groups = {kDefaultRunGroup};
    const auto conditions = parse_filter(Searched::runs, filter);
    EXPECT_TRUE(conditions) << filter << ": " << describe(conditions.errors());
    query.conditions = *conditions;
    query.order = *parse_order(Searched::runs, order);
    query.limit = limit;
    query.offset = offset;
    std::vector<std::int64_t> jobs;
    for (const podium::Run& run : reader_->runs().search(query).rows) jobs.push_back(run.info.job.value);
    return jobs;
  }

  static constexpr std::array<const char*, 6> kTexts{"bert", "BERT", "b*rt", "gp_t", "0.01", "it's [x]?"};

  TempFolder folder_;
  Store store_{folder_.path(), at_once(), {}};
  std::unique_ptr<Reader> reader_ = [this] {
    store_.begin(kCluster);
    return store_.open_reader();
  }();
  std::vector<ModelRun> runs_;
};

using Test = std::function<bool(const ModelRun&)>;

// A comparison as text, and what it means.
struct Clause {
  std::string text;
  Test holds;
};

bool matches_like(const std::string& text, const std::string& pattern, bool any_case) {
  std::string regex;
  for (const char c : pattern) {
    if (c == '%')
      regex += "[\\s\\S]*";
    else if (c == '_')
      regex += "[\\s\\S]";
    else
      regex += std::string(std::isalnum(static_cast<unsigned char>(c)) ? "" : "\\") + c;
  }
  const auto flags = any_case ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
  return std::regex_match(text, std::regex(regex, flags));
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

Clause text_clause(const std::string& name,
                   const std::function<std::optional<std::string>(const ModelRun&)>& of,
                   const std::string& value, int kind) {
  const char* const signs[] = {" = ", " != ", " LIKE ", " ILIKE "};
  return {name + signs[kind] + quoted(value), [=](const ModelRun& run) {
            const auto have = of(run);
            if (!have) return false;
            if (kind == 0) return *have == value;
            if (kind == 1) return *have != value;
            return matches_like(*have, value, kind == 3);
          }};
}

Clause metric_clause(const std::string& key, double value, int kind) {
  const char* const signs[] = {" = ", " != ", " < ", " <= ", " > ", " >= "};
  return {"metrics.`" + key + "`" + signs[kind] + fmt::format("{}", value), [=](const ModelRun& run) {
            const auto have = run.metrics.find(key);
            if (have == run.metrics.end()) return false;
            const double x = have->second;
            switch (kind) {
              case 0:
                return x == value;
              case 1:
                return x != value;
              case 2:
                return x < value;
              case 3:
                return x <= value;
              case 4:
                return x > value;
              default:
                return x >= value;
            }
          }};
}

std::optional<std::string> value_in(const std::map<std::string, std::string>& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() ? std::nullopt : std::optional(found->second);
}

Clause any_clause(std::mt19937& random) {
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const std::array patterns{"b%",   "%t",     "%",    "_ert",  "b*rt",   "%[x]?",
                            "BERT", "gp\\_t", "gp_t", "it's%", "run 1%", "ada"};
  const std::string pattern = patterns[static_cast<std::size_t>(any(12))];
  switch (any(5)) {
    case 0:
      return metric_clause(std::array{"loss", "acc", "my metric"}[static_cast<std::size_t>(any(3))],
                           any(8) / 4.0, any(6));
    case 1: {
      const std::string key = any(2) ? "lr" : "model";
      return text_clause(
          "params." + key, [key](const ModelRun& run) { return value_in(run.params, key); }, pattern, any(4));
    }
    case 2:
      return text_clause(
          "tags.team", [](const ModelRun& run) { return value_in(run.tags, "team"); }, pattern, any(4));
    case 3:
      return text_clause(
          "attributes.run_name", [](const ModelRun& run) { return std::optional(run.name); }, pattern,
          any(4));
    default: {
      const int at = 1000 + any(40);
      return {"start_time >= " + std::to_string(at), [at](const ModelRun& run) { return run.started >= at; }};
    }
  }
}

TEST_F(MlflowSearch, FindsWhatALiteralEvaluationFinds) {
  std::mt19937 random(11);
  int found_any = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Clause> clauses;
    for (unsigned i = 0; i <= random() % 3; ++i) clauses.push_back(any_clause(random));
    std::string filter;
    for (const Clause& clause : clauses) filter += (filter.empty() ? "" : " AND ") + clause.text;
    std::vector<const ModelRun*> expected;
    for (const ModelRun& run : runs_)
      if (std::ranges::all_of(clauses, [&](const Clause& clause) { return clause.holds(run); }))
        expected.push_back(&run);
    std::ranges::sort(expected, [](const ModelRun* a, const ModelRun* b) {
      return std::pair(-a->started, a->job) < std::pair(-b->started, b->job);
    });
    std::vector<std::int64_t> jobs;
    for (const ModelRun* run : expected) jobs.push_back(run->job.value);
    EXPECT_EQ(found(filter, {}), jobs) << filter;
    found_any += jobs.empty() ? 0 : 1;
  }
  EXPECT_GT(found_any, 200);  // else the filters say nothing
}

TEST_F(MlflowSearch, OrdersNumbersThenNaNThenNothing) {
  for (const bool descending : {false, true}) {
    std::vector<const ModelRun*> expected;
    for (const ModelRun& run : runs_) expected.push_back(&run);
    const auto rank = [&](const ModelRun& run) {
      const auto found = run.metrics.find("loss");
      if (found == run.metrics.end()) return std::pair(2, 0.0);
      if (std::isnan(found->second)) return std::pair(1, 0.0);
      return std::pair(0, descending ? -found->second : found->second);
    };
    std::ranges::sort(expected, [&](const ModelRun* a, const ModelRun* b) {
      return std::tuple(rank(*a), -a->started, a->job) < std::tuple(rank(*b), -b->started, b->job);
    });
    std::vector<std::int64_t> jobs;
    for (const ModelRun* run : expected) jobs.push_back(run->job.value);
    EXPECT_EQ(found("", {descending ? "metrics.loss DESC" : "metrics.loss"}), jobs);
    std::vector<std::int64_t> pages;
    for (std::int64_t offset = 0; offset < 150; offset += 40)
      for (const std::int64_t job :
           found("", {descending ? "metrics.loss DESC" : "metrics.loss"}, 40, offset))
        pages.push_back(job);
    EXPECT_EQ(pages, jobs);
  }
}

TEST_F(MlflowSearch, OrdersByParamsAndByAttributes) {
  const auto jobs = found("", {"params.lr", "attributes.run_name DESC"});
  ASSERT_EQ(jobs.size(), runs_.size());
  const auto rank = [&](std::int64_t job) {
    const ModelRun& run = runs_[static_cast<std::size_t>(job - 1)];
    return std::pair(!run.params.contains("lr"), value_in(run.params, "lr").value_or(""));
  };
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    EXPECT_LE(rank(jobs[i - 1]), rank(jobs[i]));
    if (rank(jobs[i - 1]) == rank(jobs[i])) {
      EXPECT_GE(runs_[static_cast<std::size_t>(jobs[i - 1] - 1)].name,
                runs_[static_cast<std::size_t>(jobs[i] - 1)].name);
    }
  }
}

TEST_F(MlflowSearch, KnowsTheAttributesOfARun) {
  EXPECT_EQ(found("run_id = '0123456789abcdef0000000000000011'", {}), (std::vector<std::int64_t>{17}));
  EXPECT_EQ(found("run_id IN ('0123456789abcdef0000000000000011', 'x')", {}),
            (std::vector<std::int64_t>{17}));
  EXPECT_EQ(found("run_id NOT IN ('0123456789abcdef0000000000000011')", {}).size(), 149u);
  EXPECT_EQ(found("artifact_uri LIKE 'mlflow-artifacts:/0/0123456789abcdef0000000000000011/%'", {}).size(),
            1u);
  const auto count = [&](auto holds) {
    return static_cast<std::size_t>(std::ranges::count_if(runs_, holds));
  };
  EXPECT_EQ(found("status = 'FINISHED'", {}).size(), count([](const ModelRun& run) { return run.finished; }));
  EXPECT_EQ(found("status = 'RUNNING'", {}).size(), count([](const ModelRun& run) { return !run.finished; }));
  EXPECT_EQ(found("user_id ILIKE 'ben'", {}).size(),
            count([](const ModelRun& run) { return run.user == "Ben"; }));
  EXPECT_EQ(found("end_time > 0", {}).size(), count([](const ModelRun& run) { return run.finished; }));
  EXPECT_EQ(found("end_time != 0", {}).size(), found("end_time > 0", {}).size());
}

}  // namespace
}  // namespace podium::mlflow
