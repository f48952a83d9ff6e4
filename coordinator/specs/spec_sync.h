// Watches git repositories and submits every spec that a commit adds or changes, once, under the idempotency
// key
// "<repository>@<commit>:<path>". A commit is noted as done only after all its specs were answered, so a
// crash in between submits again and the key makes that harmless.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"
#include "common/base/time.h"
#include "coordinator/specs/spec_repository.h"

namespace podium {

struct SpecSubmission {
  std::string key;
  std::string spec;        // YAML text
  std::string file;        // its path in the repository
  std::string repository;  // URL
  std::string commit;
};

// What became of a spec file at its newest commit.
struct SpecStatus {
  std::string path;
  std::string commit;
  std::optional<ExperimentId> experiment;  // none when it was refused
  Errors problems;                         // why
};

struct SpecRepositoryStatus {
  SpecRepository repository;
  std::string commit;             // seen last; "" before the first success
  Time checked{};                 // when it was last looked at; 0: not yet
  std::string error;              // of the last look; "" when it went well
  std::vector<SpecStatus> specs;  // by path
};

class SpecSync {
 public:
  // Answers once the submission is on disk or refused. Called on the sync's own thread; may block; throws
  // when the daemon is stopping, and then the spec is submitted again after the next start.
  using Submit = std::function<Result<ExperimentId>(const SpecSubmission&)>;

  // Copies live in `folder`/<name>. Starts looking at once and then every `interval`.
  SpecSync(std::vector<SpecRepository> repositories, std::filesystem::path folder,
           std::chrono::milliseconds interval, Submit submit, const Clock& clock);
  ~SpecSync();  // waits for the thread; a fetch under way is broken off

  std::vector<SpecRepositoryStatus> status() const;  // any thread

 private:
  void run();
  void look(std::size_t index);
  void submit_changes(std::size_t index, class GitMirror& mirror, const std::string& head);
  void submit_file(std::size_t index, const struct SpecFile& file);

  const std::filesystem::path folder_;
  const std::chrono::milliseconds interval_;
  const Submit submit_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<SpecRepositoryStatus> status_;  // guarded by mutex_

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace podium
