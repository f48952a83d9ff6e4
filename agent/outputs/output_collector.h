// Collects the outputs of ended tasks, one task after the other, on a thread of its own; where the shared
// folder does not take them it tries again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "agent/outputs/collect.h"

namespace podium {

// Of a task whose outputs are collected, or will not be.
struct OutputsTold {
  std::string level;  // of the note in the job's history
  std::string message;
};

class OutputCollector {
 public:
  struct Patience {
    std::chrono::milliseconds pause{5000};  // doubles up to a minute
    int tries = 12;
  };
  // Called on the collector's thread, and never after its end; must not block.
  using Done = std::function<void(TaskId task, OutputsTold told)>;

  OutputCollector(Done done, Patience patience);
  explicit OutputCollector(Done done);
  ~OutputCollector();  // waits for the thread unless it hangs

  void collect(Collection collection);

 private:
  struct Shared;
  static void run(Shared& shared);

  std::shared_ptr<Shared> shared_;  // also the thread's, which may outlive this
  std::thread thread_;
};

}  // namespace podium
