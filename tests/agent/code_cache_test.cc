// The code of tasks on a node: fetched once, checked, and unpacked for each.
#include "agent/code_cache.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>

#include "common/base/file.h"
#include "common/net/code_snapshot.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CodeOfTasks : public testing::Test {
 protected:
  // Runs until so many tasks have been told of.
  void run_until_told(std::size_t tasks) {
    while (told_.size() < tasks) io_.run_one();
  }

  TaskId task(int rank) const { return {{{1}, 1}, rank}; }

  CodeCache make_cache() {
    return {io_.get_executor(), home_.path(),
            [this](std::string) -> boost::asio::awaitable<std::optional<std::string>> {
              ++fetches_;
              co_await boost::asio::post(io_, boost::asio::use_awaitable);
              co_return answer_;
            },
            [this](TaskId id, const std::optional<TaskExit>& failure) {
              told_[id] = failure ? failure->message : "";
              causes_.push_back(failure ? failure->cause : ExitCause::program);
            }};
  }

  TempFolder home_;
  boost::asio::io_context io_;
  CodeSnapshot code_ = pack_code({{"train.py", TarEntry::Kind::file, false, "print(1)"}}, "").value();
  std::optional<std::string> answer_ = code_.packed;
  int fetches_ = 0;
  std::map<TaskId, std::string> told_;
  std::vector<ExitCause> causes_;
};

TEST_F(CodeOfTasks, IsFetchedOnceAndUnpackedForEach) {
  CodeCache cache = make_cache();
  for (int rank = 0; rank < 8; ++rank) cache.want(task(rank), code_.sha256);
  run_until_told(8);
  EXPECT_EQ(fetches_, 1);
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(told_.at(task(rank)), "");
    cache.give(task(rank), home_.path() / std::to_string(rank));
    EXPECT_EQ(read_file(home_.path() / std::to_string(rank) / "train.py"), "print(1)");
  }
  EXPECT_TRUE(cache.wanted().empty());
}

TEST_F(CodeOfTasks, ThatIsDamagedHereIsFetchedAnew) {
  std::filesystem::create_directories(home_.path() / "code");
  write_file_atomic(home_.path() / "code" / code_.sha256, "damaged");
  CodeCache cache = make_cache();
  cache.want(task(0), code_.sha256);
  run_until_told(1);
  EXPECT_EQ(told_.at(task(0)), "");
  EXPECT_EQ(fetches_, 1);
}

TEST_F(CodeOfTasks, ThatTheCoordinatorHasNotEndsItsTask) {
  answer_.reset();
  CodeCache cache = make_cache();
  cache.want(task(0), code_.sha256);
  run_until_told(1);
  EXPECT_THAT(told_.at(task(0)), HasSubstr("has no code"));
  EXPECT_THAT(causes_, ElementsAre(ExitCause::refused)) << "it will have none the next time either";
}

// What was begun for the first wish unpacked into the folder of the second, or took it away.
TEST_F(CodeOfTasks, ThatIsDroppedAndWantedAgainIsPreparedOnce) {
  CodeCache cache = make_cache();
  cache.want(task(0), code_.sha256);
  io_.run_one();  // it is being fetched
  cache.drop(task(0));
  cache.want(task(0), code_.sha256);
  run_until_told(1);
  cache.give(task(0), home_.path() / "given");
  EXPECT_EQ(read_file(home_.path() / "given" / "train.py"), "print(1)");
  io_.run_for(std::chrono::milliseconds(200));
  EXPECT_EQ(causes_.size(), 1u);
  const auto tasks = home_.path() / "code" / "tasks";
  for (int i = 0; i < 1000 && !std::filesystem::is_empty(tasks); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(std::filesystem::is_empty(tasks));
}

TEST_F(CodeOfTasks, OfAnotherNameThanAHashIsNotLookedFor) {
  write_file_atomic(home_.path() / "fence", "kept");
  CodeCache cache = make_cache();
  for (const std::string name : {"../fence", "/dev/zero", ".", ""}) {
    cache.want(task(0), name);
    run_until_told(1);
    EXPECT_THAT(told_.at(task(0)), HasSubstr("names no code"));
    told_.clear();
    cache.drop(task(0));
  }
  EXPECT_EQ(fetches_, 0);
  EXPECT_EQ(read_file(home_.path() / "fence"), "kept");
}

}  // namespace
}  // namespace podium
