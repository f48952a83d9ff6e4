// The sync against real repositories: what is submitted, what is reported, and what a crash repeats.
#include "coordinator/specs/spec_sync.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/coordinator/specs/git_repository.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

const char* kGood = "version: 1\nname: a\ncommand: [sleep, \"1\"]\nresources: {devices: 1}\n";

// The coordinator's end: checks like the API does, numbers experiments, and can be told to fail.
class Desk {
 public:
  Result<ExperimentId> submit(const SpecSubmission& submission) {
    const std::lock_guard lock(mutex_);
    if (failing_) throw std::runtime_error("stopping");
    taken_.push_back(submission);
    changed_.notify_all();
    const auto loaded = load_experiment(submission.spec, submission.file);
    if (!loaded.ok()) return loaded.errors();
    return ExperimentId{static_cast<std::int64_t>(taken_.size())};
  }

  SpecSubmission taken(std::size_t index) {
    const std::lock_guard lock(mutex_);
    return taken_.at(index);
  }

  void fail(bool failing) {
    const std::lock_guard lock(mutex_);
    failing_ = failing;
  }

  // Waits for `count` submissions in all and gives their keys.
  std::vector<std::string> keys(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 60s, [&] { return taken_.size() >= count; });
    std::vector<std::string> keys;
    for (const SpecSubmission& submission : taken_) keys.push_back(submission.key);
    return keys;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SpecSubmission> taken_;
  bool failing_ = false;
};

class SpecSyncTest : public ::testing::Test {
 protected:
  std::unique_ptr<SpecSync> sync(std::vector<SpecRepository> repositories) {
    return std::make_unique<SpecSync>(
        std::move(repositories), folder_.path(), 5ms, [this](const std::string& key) { return made_by(key); },
        [this](const SpecSubmission& s) { return desk_.submit(s); }, clock_);
  }

  // What a coordinator that was killed had on disk: one experiment, 7.
  std::filesystem::path on_disk() const { return folder_.path() / "key"; }
  std::optional<ExperimentId> made_by(const std::string& key) const {
    if (!std::filesystem::exists(on_disk()) || read_file(on_disk()) != key) return std::nullopt;
    return ExperimentId{7};
  }

  SpecRepository repository(const test::GitRepository& origin, const std::string& name) {
    return {name, origin.path(), "", "*.yaml", true};
  }

  // The status once `good` likes it; the last one after a minute.
  SpecRepositoryStatus wait_for(const SpecSync& sync, std::size_t index,
                                const std::function<bool(const SpecRepositoryStatus&)>& good) {
    SpecRepositoryStatus status;
    for (int i = 0; i < 12'000; ++i) {
      status = sync.status().at(index);
      if (good(status)) break;
      std::this_thread::sleep_for(5ms);
    }
    return status;
  }

  test::GitRepository origin_;
  TempFolder folder_;
  Desk desk_;
  SystemClock clock_;
};

TEST_F(SpecSyncTest, SubmitsEachChangeOnceByItsCommit) {
  const std::string first = origin_.commit({{"a.yaml", kGood}, {"notes.txt", "x"}});
  const auto running = sync({repository(origin_, "team")});
  EXPECT_THAT(desk_.keys(1), ElementsAre("team@" + first + ":a.yaml"));
  const std::string second = origin_.commit({{"b/c.yaml", kGood}});
  const std::string third = origin_.commit({{"a.yaml", std::string(kGood) + "priority: 60\n"}});
  EXPECT_THAT(desk_.keys(3), ElementsAre("team@" + first + ":a.yaml", "team@" + second + ":b/c.yaml",
                                         "team@" + third + ":a.yaml"));
  const auto status = wait_for(*running, 0, [&](const auto& s) { return s.commit == third; });
  EXPECT_EQ(status.commit, third);
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.specs.size(), 2u);
  EXPECT_EQ(status.specs[0].path, "a.yaml");
  EXPECT_EQ(status.specs[0].commit, third);
  EXPECT_EQ(status.specs[0].experiment, ExperimentId{3});
}

TEST_F(SpecSyncTest, CodeOfAnotherCommitIsThatCommitOfTheRepository) {
  const std::string before = origin_.commit({{"train.py", "old"}});
  origin_.tag("v1", before);
  const std::string code = "code: {git: v1}\n";
  const std::string both = origin_.commit({{"train.py", "new"}, {"a.yaml", kGood + code}, {"b.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  desk_.keys(2);
  EXPECT_EQ(desk_.taken(0).commit, both);
  EXPECT_EQ(desk_.taken(0).code_commit, before);
  EXPECT_EQ(desk_.taken(1).code_commit, both);
  const std::string wrong = origin_.commit({{"a.yaml", kGood + std::string("code: {git: v7}\n")}});
  const auto status = wait_for(*running, 0, [&](const auto& s) { return s.commit == wrong; });
  ASSERT_EQ(status.specs.at(0).problems.size(), 1u);
  EXPECT_EQ(status.specs[0].problems[0].where, "a.yaml:5:13");
  EXPECT_THAT(status.specs[0].problems[0].message, ::testing::HasSubstr("has no tag or branch \"v7\""));
  EXPECT_EQ(status.error, "") << "it is the spec that is wrong";
}

// A repository that was given to a coordinator had all its old specs run.
TEST_F(SpecSyncTest, SpecsThatWereThereBeforeTheFirstLookAreLeftUntilTheyChange) {
  const std::string first = origin_.commit({{"a.yaml", kGood}, {"b.yaml", kGood}});
  SpecRepository given = repository(origin_, "r");
  given.submit_existing = false;
  const auto running = sync({given});
  const auto left = wait_for(*running, 0, [&](const auto& s) { return s.commit == first; });
  ASSERT_EQ(left.specs.size(), 2u);
  EXPECT_FALSE(left.specs[0].experiment.has_value());
  EXPECT_TRUE(left.specs[0].problems.empty());
  const std::string second = origin_.commit({{"a.yaml", std::string(kGood) + "priority: 60\n"}});
  EXPECT_THAT(desk_.keys(1), ElementsAre("r@" + second + ":a.yaml"));
}

TEST_F(SpecSyncTest, AMovedSpecIsNotSubmittedAgain) {
  origin_.commit({{"a.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  desk_.keys(1);
  const std::string moved = origin_.commit({{"a.yaml", std::nullopt}, {"old/a.yaml", kGood}});
  const auto status = wait_for(*running, 0, [&](const auto& s) { return s.commit == moved; });
  ASSERT_EQ(status.specs.size(), 1u);
  EXPECT_EQ(status.specs[0].path, "old/a.yaml");
  EXPECT_EQ(status.specs[0].experiment, ExperimentId{1});
  EXPECT_EQ(desk_.keys(1).size(), 1u);
}

TEST_F(SpecSyncTest, ARefusedSpecIsStillShownAfterARestartAndGoesWhenItIsRemoved) {
  const std::string first = origin_.commit({{"a.yaml", "version: 1\nlable: x\n"}});
  {
    const auto running = sync({repository(origin_, "r")});
    wait_for(*running, 0, [&](const auto& s) { return s.commit == first; });
  }
  const auto running = sync({repository(origin_, "r")});
  auto status = running->status().at(0);
  ASSERT_EQ(status.specs.size(), 1u);
  EXPECT_THAT(describe(status.specs[0].problems), ::testing::HasSubstr("a.yaml:2:1: unknown key \"lable\""));
  const std::string second = origin_.commit({{"a.yaml", std::nullopt}, {"b.yaml", kGood}});
  status = wait_for(*running, 0, [&](const auto& s) { return s.commit == second; });
  ASSERT_EQ(status.specs.size(), 1u);
  EXPECT_EQ(status.specs[0].path, "b.yaml");
}

TEST_F(SpecSyncTest, AnInvalidSpecIsReportedAndStopsNoOther) {
  const std::string commit = origin_.commit({{"a.yaml", "version: 1\nlable: x\n"}, {"b.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  EXPECT_EQ(desk_.keys(2).size(), 2u);
  const auto status = wait_for(*running, 0, [&](const auto& s) { return s.commit == commit; });
  ASSERT_EQ(status.specs.size(), 2u);
  EXPECT_FALSE(status.specs[0].experiment.has_value());
  EXPECT_THAT(describe(status.specs[0].problems), ::testing::HasSubstr("a.yaml:2:1: unknown key \"lable\""));
  EXPECT_TRUE(status.specs[1].experiment.has_value());
}

TEST_F(SpecSyncTest, APathThatIsNotUtf8BlocksNothing) {
  const std::string commit = origin_.commit({{"caf\xe9.yaml", kGood}, {"z.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  EXPECT_THAT(desk_.keys(1), ElementsAre("r@" + commit + ":z.yaml"));
  const auto status = wait_for(*running, 0, [&](const auto& s) { return s.commit == commit; });
  EXPECT_EQ(status.error, "");
  ASSERT_EQ(status.specs.size(), 2u);
  EXPECT_THAT(describe(status.specs[0].problems),
              ::testing::HasSubstr("the file's path is not UTF-8; rename it"));
}

// A server that takes the connection and says nothing: SIGTERM waited for git to give it up.
TEST_F(SpecSyncTest, StopsAlthoughAServerHangs) {
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(silent, 8), 0);
  ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &length), 0);
  auto running = sync({{"silent", "git://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/specs", "",
                        "*.yaml", true}});
  pollfd caller{silent, POLLIN, 0};
  ASSERT_EQ(::poll(&caller, 1, 60'000), 1) << "git connects, and is never answered";
  running.reset();
  ::close(silent);
  EXPECT_TRUE(desk_.keys(0).empty());
}

TEST_F(SpecSyncTest, ABrokenRepositoryStopsNoOther) {
  const std::string commit = origin_.commit({{"a.yaml", kGood}});
  const auto running =
      sync({{"gone", "/nonexistent/repository", "", "*.yaml", true}, repository(origin_, "r")});
  EXPECT_THAT(desk_.keys(1), ElementsAre("r@" + commit + ":a.yaml"));
  const auto status = wait_for(*running, 0, [](const auto& s) { return !s.error.empty(); });
  EXPECT_NE(status.error, "");
  EXPECT_EQ(status.commit, "");
}

TEST_F(SpecSyncTest, ARestartSubmitsNothingAgain) {
  const std::string first = origin_.commit({{"a.yaml", kGood}});
  {
    const auto running = sync({repository(origin_, "r")});
    wait_for(*running, 0, [&](const auto& s) { return s.commit == first; });
  }
  const std::string second = origin_.commit({{"b.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  wait_for(*running, 0, [&](const auto& s) { return s.commit == second; });
  EXPECT_THAT(desk_.keys(2), ElementsAre("r@" + first + ":a.yaml", "r@" + second + ":b.yaml"));
}

// It was judged anew, by a branch that had moved or gone meanwhile.
TEST_F(SpecSyncTest, WhatWasSubmittedBeforeAKillIsKnownByItsKey) {
  origin_.commit({{"train.py", "1"}}, "work");
  const std::string commit = origin_.commit({{"a.yaml", std::string(kGood) + "code: {git: work}\n"}});
  const pid_t killed = ::fork();
  if (killed == 0) {
    const auto submit = [this](const SpecSubmission& submission) -> Result<ExperimentId> {
      write_file_atomic(on_disk(), submission.key);
      ::kill(::getpid(), SIGKILL);
      return ExperimentId{7};
    };
    const SpecSync doomed(
        {repository(origin_, "r")}, folder_.path(), 5ms,
        [this](const std::string& key) { return made_by(key); }, submit, clock_);
    while (true) ::pause();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(killed, &status, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(read_file(on_disk()), "r@" + commit + ":a.yaml");

  origin_.remove_branch("work");
  const auto running = sync({repository(origin_, "r")});
  const auto after = wait_for(*running, 0, [&](const auto& s) { return s.commit == commit; });
  ASSERT_EQ(after.specs.size(), 1u);
  EXPECT_EQ(describe(after.specs[0].problems), "");
  EXPECT_EQ(after.specs[0].experiment, ExperimentId{7});
  EXPECT_TRUE(desk_.keys(0).empty());
}

TEST_F(SpecSyncTest, WhatCouldNotBeTakenIsSubmittedLater) {
  desk_.fail(true);
  const std::string commit = origin_.commit({{"a.yaml", kGood}});
  const auto running = sync({repository(origin_, "r")});
  wait_for(*running, 0, [](const auto& s) { return s.error == "stopping"; });
  desk_.fail(false);
  EXPECT_THAT(desk_.keys(1), ElementsAre("r@" + commit + ":a.yaml"));
}

}  // namespace
}  // namespace podium
