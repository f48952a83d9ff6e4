#include "agent/process/fence_watch.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "agent/process/shared_fence.h"
#include "agent/process/write_probe.h"
#include "common/base/boot_clock.h"

namespace podium {
namespace {

constexpr auto kStopGrace = std::chrono::seconds(2);

constexpr auto kCountEvery = std::chrono::minutes(10);  // it lists as many folders as there are jobs
constexpr Duration kAgainAfter =
    std::chrono::milliseconds(100);  // where another node is just raising a fence

FenceLook look_at(const std::filesystem::path& job, const SharedFence& wanted) {
  const BootClock clock;
  FenceLook look;
  try {
    look.read = clock.now();
    const SharedFence fence = raise_shared_fence(job, wanted);
    // Another attempt of the same number, which was there first, counts as one of the next number.
    look.epoch = fence.attempt + (fence.attempt == wanted.attempt && gives_way(wanted, fence) ? 1 : 0);
    look.since = clock.now();
  } catch (const AnotherJobs& error) {
    look.failure = error.what();
    look.anothers = true;
  } catch (const std::exception& error) {
    look.failure = error.what();
  }
  return look;
}

std::int64_t count_jobs(const std::filesystem::path& jobs, const std::string& cluster) {
  try {
    return highest_job(jobs, cluster);
  } catch (const std::exception&) {
    return 0;  // each job's look says what is wrong
  }
}

}  // namespace

FenceWatch::FenceWatch(std::function<void(FenceNews)> tell) : shared_(std::make_shared<Shared>()) {
  shared_->tell = std::move(tell);
  looks_ = start(look);
  surveys_ = start(survey);
}

std::thread FenceWatch::start(void (*work)(Shared&)) {
  ++shared_->working;
  return std::thread([shared = shared_, work] {
    work(*shared);
    const std::lock_guard lock(shared->mutex);
    --shared->working;
    shared->changed.notify_all();
  });
}

FenceWatch::~FenceWatch() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
  const bool stopped = shared_->changed.wait_for(lock, kStopGrace, [&] { return shared_->working == 0; });
  lock.unlock();
  for (std::thread* thread : {&looks_, &surveys_}) stopped ? thread->join() : thread->detach();
}

void FenceWatch::watch(std::filesystem::path jobs, const std::string& cluster, Attempts attempts,
                       Duration every) {
  for (auto& [job, wanted] : attempts) wanted.cluster = cluster;
  const std::lock_guard lock(shared_->mutex);
  shared_->every = every;
  if (attempts == shared_->attempts && jobs == shared_->jobs && cluster == shared_->cluster) return;
  shared_->jobs = std::move(jobs);
  shared_->cluster = cluster;
  shared_->attempts = std::move(attempts);
  shared_->fresh = true;
  shared_->changed.notify_all();
}

void FenceWatch::expect(std::filesystem::path folder, std::string id) {
  const std::lock_guard lock(shared_->mutex);
  shared_->folder = std::move(folder);
  shared_->id = std::move(id);
}

void FenceWatch::count() {
  const std::lock_guard lock(shared_->mutex);
  shared_->counting = true;
  shared_->changed.notify_all();
}

void FenceWatch::probe() {
  const std::lock_guard lock(shared_->mutex);
  shared_->probing = true;
  shared_->changed.notify_all();
}

void FenceWatch::tell(Shared& shared, FenceNews news) {
  const std::lock_guard lock(shared.mutex);
  if (!shared.stopping) shared.tell(std::move(news));
}

void FenceWatch::look(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (!shared.stopping) {
    shared.fresh = false;
    const Attempts attempts = shared.attempts;
    const std::filesystem::path jobs = shared.jobs;
    const std::filesystem::path folder = shared.folder;
    const std::string id = shared.id;
    lock.unlock();
    bool contested = false;
    const std::string another = id.empty() ? "" : why_another_folder(folder, id);
    for (const auto& [job, wanted] : attempts) {
      FenceLook found;
      found.failure = another;
      if (another.empty()) found = look_at(shared_job_folder(jobs, job), wanted);
      contested |= found.failure.empty() && found.epoch < wanted.attempt;
      tell(shared, {jobs, {{job, found}}, 0, {}});
    }
    lock.lock();
    const Duration pause = contested ? std::min(kAgainAfter, shared.every) : shared.every;
    shared.changed.wait_for(lock, pause, [&] { return shared.fresh || shared.stopping; });
  }
}

void FenceWatch::survey(Shared& shared) {
  std::filesystem::path counted;
  std::chrono::steady_clock::time_point count_at;
  std::unique_lock lock(shared.mutex);
  while (!shared.stopping) {
    const std::filesystem::path jobs = shared.jobs;
    const std::string cluster = shared.cluster;
    const bool probe = std::exchange(shared.probing, false);
    const bool count = std::exchange(shared.counting, false);
    lock.unlock();
    if (probe) tell(shared, {jobs, {}, 0, why_not_writable(jobs)});
    if (const auto now = std::chrono::steady_clock::now(); count || jobs != counted || now >= count_at) {
      counted = jobs;
      count_at = now + kCountEvery;
      tell(shared, {jobs, {}, count_jobs(jobs, cluster), {}});
    }
    lock.lock();
    shared.changed.wait_until(lock, count_at, [&] {
      return shared.probing || shared.counting || shared.stopping || shared.jobs != counted;
    });
  }
}

}  // namespace podium
