// Reads the metrics in the output of the node's tasks, on a thread of its own. However much a task prints,
// and whatever expressions its spec has, it has a tenth of the thread's time and keeps no other task waiting.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agent/lasting_troubles.h"
#include "agent/process/console_tail.h"

namespace podium {

class ConsoleWatch {
 public:
  using Done = std::function<void(TaskId)>;

  // `clock` is that of the agent's troubles; points have the time of day. `done` is called on the thread,
  // once all that an ended task has printed is read and written, or cannot be.
  ConsoleWatch(const Clock& clock, Done done);
  ~ConsoleWatch();

  void follow(TaskId task, const TaskFolder& folder, ConsoleReader reader);
  void ended(TaskId task);  // its output grows no more
  void drop(TaskId task);   // reads it no more; `done` is not called, unless it is being called

 private:
  struct Followed {
    Followed(const TaskFolder& its_folder, ConsoleReader its_reader)
        : folder(its_folder), reader(std::move(its_reader)) {}

    const TaskFolder folder;
    const ConsoleReader reader;
    std::atomic<bool> ended{false};
    // The thread's own.
    std::optional<ConsoleTail> tail;
    std::chrono::steady_clock::time_point next{};  // not before
    bool seen_ended = false;
    int failures = 0;  // in a row
  };
  using List = std::map<TaskId, std::shared_ptr<Followed>>;

  void work();
  bool is_due(Followed& task) const;
  bool look(Followed& task);

  const Clock& clock_;
  const Done done_;
  LastingTroubles troubles_;  // the thread's own

  std::mutex mutex_;
  std::condition_variable wake_;
  List tasks_;
  bool stopping_ = false;
  bool news_ = false;   // a task has ended
  std::thread thread_;  // last: it reads the others
};

}  // namespace podium
