// Watches git repositories and submits every spec that a commit adds or changes, once, under the idempotency
// key "<repository>@<commit>:<path>". A commit is marked as done only after all its specs were answered.
// After a crash in between, the key is looked up first, because the branch that code.git names may have
// moved. Specs that are there at first are skipped, unless submit_existing; a spec that is moved keeps its
// experiment.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/id.h"
#include "common/base/tar.h"
#include "common/base/time.h"
#include "coordinator/specs/spec_status.h"

namespace podium {

struct SpecSubmission {
  std::string key;
  std::string spec;        // YAML text
  std::string file;        // its path in the repository
  std::string repository;  // URL
  std::string commit;
  std::string code_commit;  // that the spec's code.git means; else `commit`
  // The files below a folder of the repository at `code_commit`; valid during the call. Throws
  // std::exception.
  std::function<std::vector<TarEntry>(const std::string& folder)> files;
};

class SpecSync {
 public:
  // Returns once the submission is on disk or refused. Called on the sync's own thread; may block. Throws
  // where the daemon is stopping; the spec is then submitted again after the next start.
  using Submit = std::function<Result<ExperimentId>(const SpecSubmission&)>;
  // The experiment that a key has made, whatever its code would be now. Called in the same way.
  using Known = std::function<std::optional<ExperimentId>(const std::string& key)>;

  // Copies live in `folder`/<name>. Starts looking at once and then every `interval`.
  SpecSync(std::vector<SpecRepository> repositories, std::filesystem::path folder,
           std::chrono::milliseconds interval, Known known, Submit submit, const Clock& clock);
  // Aborts a running fetch and waits for the thread. git cannot be aborted while it connects, so after
  // kPatience the thread is left to end by itself; it no longer touches its owner.
  ~SpecSync();

  static constexpr std::chrono::seconds kPatience{2};

  std::vector<SpecRepositoryStatus> status() const;  // any thread

 private:
  class Watcher;
  std::shared_ptr<Watcher> watcher_;  // shared with its thread, which may outlive this
  std::thread thread_;
};

}  // namespace podium
