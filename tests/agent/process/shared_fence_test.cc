// What the nodes of a cluster read and write in the folder they share.
#include "agent/process/shared_fence.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "agent/process/cluster_file.h"
#include "agent/process/fence_watch.h"
#include "agent/process/lease_file.h"
#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

bool eventually(const std::function<bool()>& holds) {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
       std::chrono::steady_clock::now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// What a FenceWatch tells.
class Told {
 public:
  void take(FenceNews news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
  }
  std::vector<FenceNews> all() const {
    const std::lock_guard lock(mutex_);
    return news_;
  }
  auto count(const std::function<bool(const FenceNews&)>& wanted) const {
    return std::ranges::count_if(all(), wanted);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<FenceNews> news_;
};

class SharedFolder : public testing::Test {
 protected:
  std::filesystem::path job(std::int64_t id) const {
    return shared_job_folder(folder_.path() / "jobs", {id});
  }

  // As another node does while it raises the fence.
  Fd lock_of(std::int64_t id) const {
    std::filesystem::create_directories(job(id));
    Fd fd = open_file(job(id) / "epoch", O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(::flock(fd.get(), LOCK_EX), 0);
    return fd;
  }

  TempFolder folder_;
};

TEST_F(SharedFolder, HasOneIdentityHoweverManyNodesComeFirst) {
  std::vector<std::string> ids(8);
  {
    std::vector<std::jthread> nodes;
    for (std::size_t i = 0; i < ids.size(); ++i)
      nodes.emplace_back(
          [&, i] { ids[i] = shared_folder_id(folder_.path(), std::string(32, "abcdef01"[i])); });
  }
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_EQ(shared_folder_id(folder_.path(), std::string(32, '9')), ids[0]);
}

TEST_F(SharedFolder, AnIdentityThatIsBrokenIsSaid) {
  write_file_atomic(folder_.path() / "podium-shared.id", "mine\n");
  EXPECT_THROW(shared_folder_id(folder_.path(), std::string(32, '9')), std::runtime_error);
}

constexpr char kCluster[] = "aa";
const Time kBorn = from_millis(1'700'000'000'000);

TEST_F(SharedFolder, AFenceIsWhatItWasRaisedTo) {
  EXPECT_EQ(read_shared_fence(job(7)), SharedFence{});
  EXPECT_EQ(raise_shared_fence(job(7), {3, kBorn, kCluster}), (SharedFence{3, kBorn, kCluster}));
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{3, kBorn, kCluster}));
  raise_shared_fence(job(7), {12, {}, ""});
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{12, kBorn, kCluster})) << "what is not told stays";
  EXPECT_TRUE(std::filesystem::is_directory(job(7) / "checkpoints"));
  write_file_atomic(job(7) / "epoch", "");
  EXPECT_EQ(read_shared_fence(job(7)), SharedFence{}) << "its writer came no further";
  write_file_atomic(job(7) / "epoch", "three\n");
  EXPECT_THROW(read_shared_fence(job(7)), std::runtime_error);
}

TEST_F(SharedFolder, FencesOfBeforeAreReadAndRaised) {
  std::filesystem::create_directories(job(7));
  write_file_atomic(job(7) / "epoch", "0000000003 001700000000000\n");
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{3, kBorn, ""}));
  const Time requeued = kBorn + std::chrono::hours(1);  // agents of before took it for the submission
  EXPECT_EQ(raise_shared_fence(job(7), {4, requeued, kCluster}), (SharedFence{4, requeued, kCluster}));
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{4, requeued, kCluster}));
}

// Only the first attempt was compared: where it was refused, the second took the other job's folder over.
TEST_F(SharedFolder, AnotherJobOfTheNumberIsToldApartAtEveryAttempt) {
  raise_shared_fence(job(7), {1, kBorn, kCluster});
  const Time other = kBorn + std::chrono::hours(1);
  for (const int attempt : {1, 2, 9})
    EXPECT_THROW(raise_shared_fence(job(7), {attempt, other, kCluster}), std::runtime_error) << attempt;
  EXPECT_THROW(raise_shared_fence(job(7), {2, kBorn, "bb"}), std::runtime_error) << "another cluster's";
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{1, kBorn, kCluster})) << "it was not touched";
  EXPECT_EQ(raise_shared_fence(job(7), {2, kBorn, kCluster}).attempt, 2);
  EXPECT_EQ(raise_shared_fence(job(7), {1, {}, ""}).attempt, 2)
      << "its own older attempt sees that it is over";
}

// A restored database gave the number again, and both ran.
TEST_F(SharedFolder, OfTwoAttemptsOfOneNumberTheFirstStays) {
  const SharedFence first{2, kBorn, kCluster, kBorn + std::chrono::minutes(1)};
  const SharedFence again{2, kBorn, kCluster, kBorn + std::chrono::minutes(9)};
  EXPECT_EQ(raise_shared_fence(job(7), first), first);
  EXPECT_FALSE(gives_way(first, read_shared_fence(job(7))));
  EXPECT_EQ(raise_shared_fence(job(7), again), first);
  EXPECT_TRUE(gives_way(again, first));
  EXPECT_FALSE(gives_way(first, first));
  EXPECT_FALSE(gives_way({2, kBorn, kCluster, {}}, first)) << "an agent that was not told cannot tell";
  const SharedFence next{3, kBorn, kCluster, kBorn + std::chrono::minutes(10)};
  EXPECT_EQ(raise_shared_fence(job(7), next), next) << "released, it has a number of its own";
  EXPECT_EQ(raise_shared_fence(job(8), {1, {}, "", first.begun}), (SharedFence{1, {}, "", first.begun}));
  EXPECT_EQ(read_shared_fence(job(8)), (SharedFence{1, {}, "", first.begun}));
}

TEST_F(SharedFolder, AFolderInPlaceOfTheSharedOneHasNoFences) {
  const std::string id(32, 'a');
  shared_folder_id(folder_.path(), id);
  EXPECT_EQ(why_another_folder(folder_.path(), id), "");
  EXPECT_NE(why_another_folder(folder_.path(), std::string(32, 'b')), "");
  Told told;
  FenceWatch watch([&](FenceNews news) { told.take(std::move(news)); });
  watch.expect(folder_.path(), id);
  std::filesystem::remove(folder_.path() / "podium-shared.id");  // as below a mount that was lost
  watch.watch(folder_.path() / "jobs", kCluster, {{{7}, {1, kBorn, ""}}}, std::chrono::milliseconds(10));
  const auto failed = [](const FenceNews& news) {
    return news.looks.contains({7}) && !news.looks.at({7}).failure.empty();
  };
  EXPECT_TRUE(eventually([&] { return told.count(failed) > 1; }));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "jobs")) << "nor is any made there";
}

// It was read, and then written without a look: the slower of two nodes could lower it.
TEST_F(SharedFolder, NodesThatRaceNeverLowerAFence) {
  constexpr int kNodes = 8, kHighest = 400;
  std::atomic<bool> done = false;
  std::jthread watcher([&] {
    for (std::int32_t last = 0; !done;) {
      const std::int32_t now = read_shared_fence(job(7)).attempt;
      ASSERT_GE(now, last);
      last = now;
    }
  });
  {
    std::vector<std::jthread> nodes;
    for (int node = 0; node < kNodes; ++node)
      nodes.emplace_back([&, node] {
        for (int attempt = 1 + node; attempt <= kHighest; attempt += kNodes)
          while (raise_shared_fence(job(7), {attempt, kBorn, kCluster}).attempt < attempt)
            std::this_thread::yield();  // another node is raising it
      });
  }
  done = true;
  EXPECT_EQ(read_shared_fence(job(7)).attempt, kHighest);
}

// The whole attempt ended where a node waited for longer than two seconds for the others of its gang.
TEST_F(SharedFolder, AFenceThatAnotherNodeIsRaisingIsNoFailure) {
  {
    const Fd busy = lock_of(7);
    EXPECT_EQ(raise_shared_fence(job(7), {1, kBorn, kCluster}), SharedFence{});
  }
  EXPECT_EQ(raise_shared_fence(job(7), {1, kBorn, kCluster}).attempt, 1);
}

TEST_F(SharedFolder, AFenceThatAnotherNodeIsRaisingIsLookedAtAgainSoon) {
  Fd busy = lock_of(7);
  Told told;
  FenceWatch watch([&](FenceNews news) { told.take(std::move(news)); });
  watch.watch(folder_.path() / "jobs", kCluster, {{{7}, {1, kBorn, ""}}}, std::chrono::hours(1));
  const auto looks = [&](std::int32_t epoch) {
    return told.count([epoch](const FenceNews& news) {
      return news.looks.contains({7}) && news.looks.at({7}).epoch == epoch &&
             news.looks.at({7}).failure.empty();
    });
  };
  ASSERT_TRUE(eventually([&] { return looks(0) >= 2; }));
  busy = Fd();
  EXPECT_TRUE(eventually([&] { return looks(1) >= 1; }));
}

// Whoever could read it could lock it, and keep the next attempt from starting.
TEST_F(SharedFolder, AFenceIsItsOwnersAlone) {
  raise_shared_fence(job(7), {1, kBorn, kCluster});
  struct stat status {};
  ASSERT_EQ(::stat((job(7) / "epoch").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(SharedFolder, KnowsTheHighestJob) {
  const auto jobs = folder_.path() / "jobs";
  EXPECT_EQ(highest_job(jobs, kCluster), 0);
  for (const int id : {9, 10, 2}) raise_shared_fence(job(id), {1, kBorn, kCluster});
  std::filesystem::create_directory(jobs / "99x");
  EXPECT_EQ(highest_job(jobs, kCluster), 10);
}

// Any program can make folders there: mkdir 999999999 used up all numbers.
TEST_F(SharedFolder, OnlyAnAgentsFenceTellsOfAJob) {
  const auto jobs = folder_.path() / "jobs";
  raise_shared_fence(job(10), {1, kBorn, kCluster});
  std::filesystem::create_directories(job(999'999'999));
  std::filesystem::create_directories(job(600));
  write_file_atomic(job(600) / "epoch", "mine\n");
  raise_shared_fence(job(700), {1, kBorn, "bb"});
  EXPECT_EQ(highest_job(jobs, kCluster), 10);
  raise_shared_fence(job(999'999'999), {1, kBorn, kCluster});
  EXPECT_EQ(highest_job(jobs, kCluster), 10) << "no other number comes near it";
}

TEST_F(SharedFolder, AFifoInPlaceOfAFenceHangsNobody) {
  raise_shared_fence(job(10), {1, kBorn, kCluster});
  std::filesystem::create_directories(job(11));
  ASSERT_EQ(::mkfifo((job(11) / "epoch").c_str(), 0600), 0);
  EXPECT_EQ(highest_job(folder_.path() / "jobs", kCluster), 10);
}

// The whole folder was listed before every look was told.
TEST_F(SharedFolder, LooksDoNotWaitForTheFoldersListing) {
  raise_shared_fence(job(10), {1, kBorn, kCluster});
  Told told;
  FenceWatch watch([&](FenceNews news) { told.take(std::move(news)); });
  watch.watch(folder_.path() / "jobs", kCluster, {{{7}, {1, kBorn, ""}}, {{8}, {2, kBorn, ""}}},
              Duration(10));
  const auto looks = [&](std::int64_t id) {
    return told.count([id](const FenceNews& news) { return news.looks.contains({id}); });
  };
  const auto listings = [&] {
    return told.count([](const FenceNews& news) { return news.highest_job == 10; });
  };
  ASSERT_TRUE(eventually([&] { return looks(7) >= 5 && looks(8) >= 5 && listings() > 0; }));
  EXPECT_EQ(listings(), 1) << "once in a while";
  for (const FenceNews& news : told.all()) {
    EXPECT_LE(news.looks.size(), 1u) << "each is told as it is made";
    EXPECT_EQ(news.jobs, folder_.path() / "jobs");
  }
  EXPECT_EQ(read_shared_fence(job(7)), (SharedFence{1, kBorn, kCluster}));
}

TEST_F(SharedFolder, AProbeTellsWhetherItCanBeWritten) {
  const auto jobs = folder_.path() / "jobs";
  write_file_atomic(jobs, "a file where a folder should be");
  Told told;
  FenceWatch watch([&](FenceNews news) { told.take(std::move(news)); });
  watch.watch(jobs, kCluster, {}, std::chrono::hours(1));
  const auto probes = [&](bool fine) {
    return told.count(
        [fine](const FenceNews& news) { return news.trouble && news.trouble->empty() == fine; });
  };
  watch.probe();
  ASSERT_TRUE(eventually([&] { return probes(false) == 1; }));
  std::filesystem::remove(jobs);
  watch.probe();
  EXPECT_TRUE(eventually([&] { return probes(true) == 1; }));
}

TEST(LeaseOnDisk, TheNextAgentFindsWhatIsLeft) {
  const TempFolder home;
  EXPECT_FALSE(LeaseFile(home.path()).read().has_value());
  const LeaseRecord record{from_millis(90'000), from_millis(30'000), Duration(60'000), Duration(3'600'000)};
  LeaseFile(home.path()).set(record);
  EXPECT_EQ(LeaseFile(home.path()).read(), record);
}

// The agent that had made it held it open, and wrote on where nobody read.
TEST(LeaseOnDisk, ATasksOwnIsFoundByTheNextAgentThoughAProgramDeletesIt) {
  const TempFolder home;
  const auto folder = home.path() / "task";
  EXPECT_FALSE(TaskLease::exists(folder));
  TaskLease lease(folder);
  EXPECT_EQ(lease.end(), Time{});
  lease.set(from_millis(90'000), Duration(30'000));
  EXPECT_TRUE(TaskLease::exists(folder));
  EXPECT_EQ(TaskLease(folder).end(), from_millis(90'000));
  for (const auto& deleted : {folder / "lease", folder}) {
    std::filesystem::remove_all(deleted);
    const Time end = from_millis(100'000 + static_cast<std::int64_t>(deleted.string().size()));
    lease.set(end, Duration(30'000));
    EXPECT_EQ(TaskLease(folder).end(), end) << deleted;
  }
  std::filesystem::remove(folder / "lease");
  std::filesystem::create_directory(folder / "lease");
  EXPECT_EQ(TaskLease(folder).end(), Time{});
  EXPECT_THROW(lease.set(from_millis(95'000), Duration(30'000)), std::system_error);
}

TEST(ClusterOnDisk, AnotherClustersJobsAreSetAside) {
  const TempFolder home;
  EXPECT_EQ(read_cluster(home.path()), FollowedCluster{});
  const FollowedCluster old{{"aa", 4}, "aa/jobs"};
  write_cluster(home.path(), old);
  EXPECT_EQ(read_cluster(home.path()), old);
  std::filesystem::create_directories(home.path() / "jobs/1");
  set_jobs_aside(home.path(), old);
  EXPECT_FALSE(std::filesystem::exists(home.path() / "jobs"));
  EXPECT_TRUE(std::filesystem::exists(home.path() / "cluster-aa/jobs/1"));
}

}  // namespace
}  // namespace podium
