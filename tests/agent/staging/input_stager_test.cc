// The inputs of tasks: staged on threads, given as folders of links, dropped where nobody wants them.
#include "agent/staging/input_stager.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>

#include "common/base/file.h"
#include "common/net/sha256.h"
#include "tests/agent/staging/file_server.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InputsOfTasks : public testing::Test {
 protected:
  InputsOfTasks() {
    fs::create_directories(config_.data);
    write_file_atomic(config_.data / "a", "alpha");
    write_file_atomic(config_.data / "b", "beta");
    start();
  }

  // As another agent.
  void start() {
    stager_.reset();
    stager_.emplace(io_.get_executor(), config_, [this](TaskId id, const std::optional<TaskExit>& failure) {
      told_[id] = failure ? failure->message : "";
    });
  }

  static TaskId task(int rank) { return {{{1}, 1}, rank}; }
  void run_until_told(std::size_t tasks) {
    while (told_.size() < tasks) io_.run_one();
  }

  TempFolder folder_;
  StagingConfig config_{folder_.path() / "store", {}, folder_.path() / "data", {}};
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_{io_.get_executor()};
  std::map<TaskId, std::string> told_;
  std::optional<InputStager> stager_;
  Time now_{};
};

TEST_F(InputsOfTasks, AreStagedOnceForAllOfANodeAndGivenToEach) {
  const std::vector<InputSpec> inputs{{"a", "first", ""}, {"b", "deep/second", ""}};
  for (int rank = 0; rank < 4; ++rank) stager_->want(task(rank), inputs, now_);
  EXPECT_EQ(stager_->staging().size(), 4u);
  run_until_told(4);
  EXPECT_THAT(stager_->staging(), IsEmpty());
  stager_->want(task(4), inputs, now_);
  EXPECT_EQ(told_.size(), 5u) << "they are there";
  for (int rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(told_.at(task(rank)), "");
    const fs::path given = folder_.path() / std::to_string(rank);
    EXPECT_EQ(stager_->give(task(rank), given), "2 input(s) ready on this node: 2 staged, 9 B");
    EXPECT_EQ(read_file(given / "first"), "alpha");
    EXPECT_EQ(read_file(given / "deep/second"), "beta");
  }
  EXPECT_THAT(stager_->wanted(), IsEmpty());
}

TEST_F(InputsOfTasks, ThatWereThereAreSaidToBe) {
  stager_->want(task(0), {{"a", "a", ""}}, now_);
  run_until_told(1);
  stager_->give(task(0), folder_.path() / "0");
  stager_->want(task(1), {{"a", "a", ""}}, now_);
  run_until_told(2);
  EXPECT_EQ(stager_->give(task(1), folder_.path() / "1"), "1 input(s) ready on this node");
}

TEST_F(InputsOfTasks, ThatCannotBeHadEndTheirTasks) {
  stager_->want(task(0), {{"none", "x", ""}}, now_);
  stager_->want(task(1), {{"none", "x", ""}}, now_);
  run_until_told(2);
  EXPECT_THAT(told_.at(task(0)), HasSubstr("the input x (none): there is no"));
  EXPECT_EQ(told_.at(task(1)), told_.at(task(0)));
  write_file_atomic(config_.data / "none", "now it is");
  told_.clear();
  stager_->want(task(2), {{"none", "x", ""}}, now_);
  run_until_told(1);
  EXPECT_EQ(told_.at(task(2)), "") << "another try is another look";
}

TEST_F(InputsOfTasks, ThatNobodyWantsAnyMoreAreStagedOnForAWhile) {
  const fs::path served = folder_.path() / "served";
  fs::create_directories(served);
  write_file_atomic(served / "x", std::string(100'000, 'x'));
  const test::FileServer server(served);
  const std::string hash = sha256_of(std::string(100'000, 'x'));
  const fs::path part = config_.folder / "incoming" / ("sha256-" + hash) / "data";
  const std::vector<InputSpec> slow{{server.url("/slow/1000/x"), "x", hash}};
  stager_->want(task(0), slow, now_);
  while (!fs::exists(part) || fs::file_size(part) == 0) std::this_thread::sleep_for(5ms);
  stager_->drop(task(0));
  stager_->look(now_);
  stager_->look(now_ + 1min);
  stager_->want(task(1), slow, now_ + 1min);
  EXPECT_EQ(server.requests(), "/slow/1000/x \n") << "the next attempt finds it under way";
  stager_->drop(task(1));
  stager_->look(now_ + 1min);
  stager_->look(now_ + 4min);
  EXPECT_THAT(stager_->wanted(), IsEmpty());
  EXPECT_FALSE(told_.contains(task(0)));
  stager_->want(task(2), {{server.url("/x"), "x", hash}}, now_);
  run_until_told(1);
  EXPECT_EQ(told_.at(task(2)), "");
  EXPECT_THAT(server.requests(), testing::ContainsRegex("/x bytes=[1-9][0-9]*-\n$"))
      << "it went on with the part";
}

TEST_F(InputsOfTasks, ThatOthersWaitForHangForThemToo) {
  const fs::path served = folder_.path() / "served";
  fs::create_directories(served);
  write_file_atomic(served / "x", "xxxx");
  const test::FileServer server(served);
  const std::string hash = sha256_of("xxxx");
  stager_->want(task(0), {{server.url("/hang/x"), "x", hash}}, now_);
  while (server.requests().empty()) std::this_thread::sleep_for(5ms);
  stager_->want(task(1), {{server.url("/x"), "x", hash}}, now_);
  std::this_thread::sleep_for(1500ms);  // more than one look of whoever waits
  stager_->look(now_ + 5min);
  std::this_thread::sleep_for(1500ms);
  stager_->look(now_ + 16min);
  EXPECT_THAT(told_.at(task(0)), HasSubstr("has not moved"));
  EXPECT_THAT(told_.at(task(1)), HasSubstr("has not moved"));
}

TEST_F(InputsOfTasks, OfAStoreThatCannotBeOpenedConcernTheirTasksAlone) {
  write_file_atomic(config_.folder, "in the way");
  stager_->want(task(0), {{"a", "a", ""}}, now_);
  run_until_told(1);
  EXPECT_THAT(told_.at(task(0)), HasSubstr(config_.folder.string()));
  fs::remove(config_.folder);
  told_.clear();
  stager_->want(task(1), {{"a", "a", ""}}, now_);
  run_until_told(1);
  EXPECT_EQ(told_.at(task(1)), "") << "it is tried again";
}

TEST_F(InputsOfTasks, ThatAnEarlierAgentGaveStayWhileTheirTasksLive) {
  const auto give = [this](int rank, const std::string& input) {
    stager_->want(task(rank), {{input, "link", ""}}, now_);
    run_until_told(1);
    told_.clear();
    stager_->give(task(rank), folder_.path() / std::to_string(rank));
    return fs::read_symlink(folder_.path() / std::to_string(rank) / "link");
  };
  const fs::path a = give(0, "a");
  config_.limits.bytes = 5;
  start();
  stager_->adopt(task(0), folder_.path() / "0");
  write_file_atomic(config_.data / "b", "b");
  stager_->want(task(1), {{"b", "b", ""}}, now_);
  run_until_told(1);
  EXPECT_THAT(told_.at(task(1)), HasSubstr("there is no room"));
  EXPECT_TRUE(fs::exists(a));
  stager_->release(task(0));
  told_.clear();
  stager_->want(task(2), {{"b", "b", ""}}, now_);
  run_until_told(1);
  EXPECT_EQ(told_.at(task(2)), "");
  EXPECT_FALSE(fs::exists(a));
}

TEST_F(InputsOfTasks, ThatDoNotMoveAreGivenUp) {
  const fs::path served = folder_.path() / "served";
  fs::create_directories(served);
  write_file_atomic(served / "x", "xxxx");
  const test::FileServer server(served);
  stager_->want(task(0), {{server.url("/hang/x"), "x", sha256_of("xxxx")}}, now_);
  while (server.requests().empty()) std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_for(50ms);
  stager_->look(now_ + 5min);
  stager_->look(now_ + 14min);
  EXPECT_THAT(told_, IsEmpty()) << "it moved 9 minutes ago";
  stager_->look(now_ + 16min);
  ASSERT_TRUE(told_.contains(task(0)));
  EXPECT_THAT(told_.at(task(0)), HasSubstr("has not moved for 10m"));
  EXPECT_THAT(stager_->staging(), IsEmpty());
  stager_.reset();  // ends although the server hangs
}

}  // namespace
}  // namespace podium
