// A tiny real pre-training job run through podium-worker processes: folders, launch files, what came out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/model/launch.h"
#include "common/model/launch_clock.h"
#include "common/model/worker_event.h"
#include "tests/child.h"
#include "tests/temp_folder.h"

namespace podium {

// A job of `steps` steps; every 5th writes a checkpoint.
JobSpec tiny_job(std::int64_t steps);
JobSpec tiny_gpt_job(std::int64_t steps);
JobSpec tiny_llama_job(std::int64_t steps);  // with two heads of queries to each of keys and values

// The layout a job is trained in, and with how many processes.
struct JobLayout {
  std::string name;
  int processes = 1;
  ParallelSpec parallel;
};
// "tensor2_pipeline2_data2", with "_interleaved2", "_sequence" and "_distributed".
JobLayout layout_of_name(const std::string& name);

// How a process ended: its exit code, or minus the signal that ended it.
int exit_of(Child& child);

class WorkerJob {
 public:
  explicit WorkerJob(JobSpec spec);

  // Starts every rank as an own process. `prefix` is a shell command the worker is run by, such as "ulimit -f
  // 8;".
  void start(int world_size, const std::string& prefix = "");
  Child& rank(int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  std::vector<int> wait();
  void start(const JobLayout& layout);
  std::vector<int> run(const JobLayout& layout) {
    start(layout);
    return wait();
  }
  std::vector<int> run(int world_size, const std::string& prefix = "") {
    start(world_size, prefix);
    return wait();
  }
  // Waits until rank 0 has told of this step, in any event; false where it ended before.
  bool wait_for_step(std::int64_t step);

  std::vector<WorkerEvent> events(int rank = 0) const;
  std::map<std::int64_t, double> metric(const std::string& key) const;  // the last value of each step
  std::string last_status(int rank = 0) const;  // of the finished line, "" without one
  std::string errors(int rank = 0) const;       // the error notes, joined
  std::string output() const;                   // standard output and error of rank 0, of all starts

  // Bytes of a checkpoint's tensors, of all ranks.
  std::string tensors(std::int64_t step) const;
  std::filesystem::path checkpoints() const { return folder_.path() / "checkpoints"; }
  std::filesystem::path data() const { return folder_.path() / "data"; }

  // Changes what the ranks are told, before `start`.
  Launch launch;
  LaunchClock clock;

 private:
  std::filesystem::path events_path(int rank) const;

  TempFolder folder_;
  std::vector<std::unique_ptr<Child>> ranks_;
};

}  // namespace podium
