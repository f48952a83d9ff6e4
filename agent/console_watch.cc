#include "agent/console_watch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "agent/process/home_room.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr auto kLooksEvery = 100ms;
constexpr auto kLookTakesAtMost = 20ms;  // of one task, and the line that it reads then
// A task is left alone for so many times as long as the look at it took; one that has ended is not kept
// waiting.
constexpr int kRestsFor = 9, kRestsOnceEnded = 1;
constexpr auto kRestsAfterFailure = 1s;
constexpr int kMostFailures = 10;  // in a row, of an ended task

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
  {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(task);
    if (found == tasks_.end()) return;
    found->second->ended = true;
    news_ = true;
  }
  wake_.notify_one();
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
    for (const bool ended : {true, false})
      for (const auto& [id, task] : tasks)
        if (task->ended == ended && is_due(*task) && look(*task)) {
          drop(id);
          done_(id);
        }
    troubles_.log_passed(clock_.now());
    lock.lock();
    wake_.wait_for(lock, kLooksEvery, [this] { return stopping_ || news_; });
    news_ = false;
  }
}

bool ConsoleWatch::is_due(Followed& task) const {
  const bool just_ended = task.ended && !task.seen_ended;
  task.seen_ended = task.ended;
  return just_ended || std::chrono::steady_clock::now() >= task.next;
}

// True where nothing more is to be read.
bool ConsoleWatch::look(Followed& task) {
  const bool ended = task.ended;
  const auto began = std::chrono::steady_clock::now();
  try {
    if (!task.tail) task.tail.emplace(task.folder, task.reader);
    const bool all = task.tail->look(ended, SystemClock().now(), kLookTakesAtMost);
    task.failures = 0;
    const auto now = std::chrono::steady_clock::now();
    task.next = now + (ended ? kRestsOnceEnded : kRestsFor) * (now - began);
    return ended && all;
  } catch (const std::exception& error) {
    troubles_.failed(std::string(error.what()) + "; metrics in the output of that task are read no further");
    task.next = std::chrono::steady_clock::now() + kRestsAfterFailure;
    const auto* code = dynamic_cast<const std::system_error*>(&error);
    const bool no_room = code && is_no_room(*code);  // which may pass
    return ended && !no_room && ++task.failures >= kMostFailures;
  }
}

}  // namespace podium
