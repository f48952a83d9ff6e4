// Reads the shared fences of the node's jobs periodically, and raises those that are lower than the attempt
// that this node was given. Runs on a thread of its own, because a network file system may hang; then no
// results come. Slow work (listing the folder, test writes) is on another thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "agent/core/fence_look.h"
#include "agent/process/shared_fence.h"

namespace podium {

struct FenceNews {
  std::filesystem::path jobs;  // the folder of a cluster's jobs that this is of
  FenceLooks looks;
  std::int64_t highest_job = 0;        // in that folder
  std::optional<std::string> trouble;  // why it cannot be written, "": it can; nothing: nobody has tried
};

class FenceWatch {
 public:
  using Attempts = std::map<JobId, SharedFence>;

  // `tell` is called on the watch's thread, never after the watch is destroyed; it must not block.
  explicit FenceWatch(std::function<void(FenceNews)> tell);
  ~FenceWatch();  // waits for running work, but not for work that hangs

  // Sets the newest attempt of each job that runs here or is ordered, and the folder of that cluster's jobs.
  // A change is read at once, and each result is told when it arrives. The folder is listed from time to
  // time.
  void watch(std::filesystem::path jobs, const std::string& cluster, Attempts attempts, Duration every);
  // Sets the shared folder and its id: another folder in its place has no fences.
  void expect(std::filesystem::path folder, std::string id);
  // Lists the folder soon.
  void count();
  // Tries soon to write in that folder, and tells the result.
  void probe();

 private:
  struct Shared {
    std::function<void(FenceNews)> tell;
    std::mutex mutex;  // guards the rest
    std::condition_variable changed;
    std::filesystem::path folder;
    std::string id;  // of that folder; "": nobody has said
    std::filesystem::path jobs;
    std::string cluster;
    Attempts attempts;
    Duration every = std::chrono::seconds(5);
    bool fresh = false;                      // attempts came that were not looked at
    bool counting = false, probing = false;  // asked for
    bool stopping = false;
    int working = 0;  // threads that have not ended
  };

  static void tell(Shared& shared, FenceNews news);
  static void look(Shared& shared);
  static void survey(Shared& shared);
  std::thread start(void (*work)(Shared&));

  std::shared_ptr<Shared> shared_;  // also the threads', which may outlive this while they hang
  std::thread looks_, surveys_;
};

}  // namespace podium
