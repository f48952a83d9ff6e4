#include "agent/console_watch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr auto kRestsAtLeast = 100ms;
constexpr auto kLookTakesAtMost = 20ms;  // of one task at most
constexpr int kRestsFor = 9;       // times as long as the looks took
constexpr int kMostFailures = 50;  // in a row, of an ended task

}  // namespace

ConsoleWatch::ConsoleWatch(const Clock& clock, Done done)
    : clock_(clock), done_(std::move(done)), thread_([this] { work(); }) {}

ConsoleWatch::~ConsoleWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ConsoleWatch::follow(TaskId task, const TaskFolder& folder, ConsoleReader reader) {
  {
    const std::lock_guard lock(mutex_);
    tasks_[task] = std::make_shared<Followed>(folder, std::move(reader));
  }
  wake_.notify_one();
}

void ConsoleWatch::ended(TaskId task) {
  const std::lock_guard lock(mutex_);
  if (const auto found = tasks_.find(task); found != tasks_.end()) found->second->ended = true;
}

void ConsoleWatch::drop(TaskId task) {
  const std::lock_guard lock(mutex_);
  tasks_.erase(task);
}

void ConsoleWatch::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    const List tasks = tasks_;
    lock.unlock();
    const auto began = std::chrono::steady_clock::now();
    for (const auto& [id, task] : tasks) {
      if (!look(*task)) continue;
      drop(id);
      done_(id);
    }
    troubles_.log_passed(clock_.now());
    const auto rest = std::max<std::chrono::steady_clock::duration>(
        kRestsAtLeast, kRestsFor * (std::chrono::steady_clock::now() - began));
    lock.lock();
    wake_.wait_for(lock, rest, [this] { return stopping_; });
  }
}

// True where nothing more is to be read.
bool ConsoleWatch::look(Followed& task) {
  const bool ended = task.ended;
  try {
    if (!task.tail) task.tail.emplace(task.folder, task.reader);
    const bool all = task.tail->look(ended, clock_.now(), kLookTakesAtMost);
    task.failures = 0;
    return ended && all;
  } catch (const std::exception& error) {
    troubles_.failed(std::string(error.what()) + "; metrics in the output of that task are read no further");
    return ended && ++task.failures >= kMostFailures;
  }
}

}  // namespace podium
