// How much one run may hold, and how long a search may take.
#include "tests/coordinator/store/runs_fixture.h"

namespace podium {
namespace {

TEST_F(Runs, LimitsHoldWithinATransaction) {
  const JobId run = track(1);
  std::vector<RunChange> changes;
  for (int i = 0; i < 120; ++i) {
    LogToRun log;
    for (int k = 0; k < 100; ++k) {
      log.params.push_back({"p" + std::to_string(100 * i + k), "1"});
      log.tags.push_back({"t" + std::to_string(100 * i + k), "1"});
    }
    if (i == 0) log.tags.pop_back();  // it has its name
    changes.push_back({0, run, log});
    changes.push_back({0, run, log});  // repeated
  }
  for (const auto& [i, ok] : change_at_once(changes)) EXPECT_EQ(ok, i < 200) << i;
  EXPECT_EQ(reader_->runs().run(run)->data.params.size(), 10'000u);
  EXPECT_EQ(reader_->runs().run(run)->data.tags.size(), 10'000u);
}

TEST_F(Runs, LimitsOfParamsAndTagsAndInputs) {
  const JobId run = track(1);
  for (int i = 0; i < 100; ++i) {
    LogToRun log;
    for (int k = 0; k < 100; ++k) {
      log.params.push_back({"p" + std::to_string(100 * i + k), "1"});
      if (100 * i + k > 0) log.tags.push_back({"t" + std::to_string(100 * i + k), "1"});
    }
    ASSERT_TRUE(change(run, log));
  }
  EXPECT_FALSE(change(run, LogToRun{{}, {{"more", "1"}}, {}}));
  EXPECT_TRUE(change(run, LogToRun{{}, {{"p7", "1"}}, {{"t7", "2"}}}));
  EXPECT_FALSE(change(run, LogToRun{{{"m", 1, 1, 1}}, {}, {{"more", "1"}}}));
  EXPECT_TRUE(history(run, "m").empty());
  std::vector<RunInput> inputs;
  for (int i = 0; i < kMostRunInputs; ++i) inputs.push_back({"dataset", std::to_string(i), "{}"});
  EXPECT_TRUE(change(run, AddRunInputs{inputs}));
  EXPECT_FALSE(change(run, AddRunInputs{{{"dataset", "x", "{}"}}}));
}

TEST_F(Runs, TheBytesOfOneAreLimited) {
  const JobId run = track(1);
  const std::string large(1 << 20, 'x');
  for (int i = 0; i < 31; ++i) ASSERT_TRUE(change(run, LogToRun{{}, {}, {{std::to_string(i), large}}}));
  const auto refused = change(run, LogToRun{{{"m", 1, 1, 1}}, {{"p", large}}, {}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(describe(refused.errors()), testing::HasSubstr("log what is long as an artifact"));
  EXPECT_TRUE(history(run, "m").empty());
  EXPECT_FALSE(change(run, AddRunInputs{{{"model", "m", large}}}));
  // One that takes another's place adds what it is longer by.
  EXPECT_TRUE(change(run, LogToRun{{}, {}, {{"3", large}, {"4", std::string(7, 'y')}}}));
  EXPECT_TRUE(change(run, LogToRun{{}, {{"p", large}}, {}}));
  EXPECT_FALSE(change(run, LogToRun{{}, {}, {{"q", large}}}));
  const std::string body(200 * 1024, 'x');
  for (const char* id : {"a", "b", "c", "d", "e"})
    EXPECT_TRUE(change(run, AddRunInputs{{{"model", id, body}}})) << id;
  EXPECT_FALSE(change(run, AddRunInputs{{{"model", "f", body}}}));
  EXPECT_TRUE(change(run, AddRunInputs{{{"model", "a", body}}}));
  EXPECT_TRUE(change(run, RemoveRunTag{"5"}));
  EXPECT_TRUE(change(run, AddRunInputs{{{"model", "f", body}}}));
  EXPECT_TRUE(change(track(2), LogToRun{{}, {{"p", large}}, {}})) << "which is another run";
}

TEST_F(Runs, TheBytesOfOneAreLimitedWithinATransaction) {
  const JobId run = track(1);
  const std::string large(1 << 20, 'x');
  std::vector<RunChange> changes;
  for (int i = 0; i < 40; ++i) changes.push_back({0, run, LogToRun{{}, {{std::to_string(i), large}}, {}}});
  const auto answers = change_at_once(changes);
  EXPECT_EQ(std::ranges::count_if(answers, [](const auto& each) { return each.second; }), 31);
}

TEST_F(Runs, ThePointsOfOneAreLimited) {
  const JobId run = track(1);
  log(run, {{"m", 1, 1, 1}});
  Database(folder_.path() / "podium.db", Access::write, 1000)
      .run("UPDATE series SET points = " + std::to_string(kMostRunPoints - 2));
  Store again(folder_.path(), at_once());
  const auto change_again = [&](std::vector<RunPoint> points) {
    std::promise<bool> done;
    RunChange change{0, run, LogToRun{std::move(points), {}, {}}};
    again.change(std::make_shared<const RunChange>(std::move(change)),
                 [&](const Result<std::int64_t>& result) { done.set_value(result.ok()); });
    return done.get_future().get();
  };
  EXPECT_FALSE(change_again({{"n", 1, 1, 1}, {"n", 2, 1, 1}, {"n", 3, 1, 1}}));
  EXPECT_TRUE(change_again({{"n", 1, 1, 1}, {"n", 2, 1, 1}}));
  EXPECT_FALSE(change_again({{"n", 3, 1, 1}}));
}

TEST_F(Runs, ASearchThatTakesTooLongEnds) {
  for (int i = 1; i <= 200; ++i) track(i);
  RunQuery query;
  query.cluster = "0123456789abcdef";
  query.groups = {kDefaultRunGroup};
  query.order = {{RunField::tag, "mlflow.runName", true}};
  EXPECT_EQ(reader_->runs().search(query).rows.size(), 200u);
  try {
    reader_->runs().search(query, std::chrono::steady_clock::now());
    FAIL();
  } catch (const SqliteError& error) {
    EXPECT_TRUE(error.is_late()) << error.what();
  }
  EXPECT_EQ(reader_->runs().search(query).rows.size(), 200u) << "the reader is as good as before";
}

}  // namespace
}  // namespace podium
