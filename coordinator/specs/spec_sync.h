// Watches git repositories and submits every spec that a commit adds or changes, once, under the idempotency
// key "<repository>@<commit>:<path>". A commit is noted as done only after all its specs were answered; after
// a crash in between the key is asked first, for the branch that code.git names may have moved since. Specs
// that are there at the first look are left, unless the repository says otherwise; a spec that is moved stays
// the experiment that it is.
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
  // Answers once the submission is on disk or refused. Called on the sync's own thread; may block; throws
  // when the daemon is stopping, and then the spec is submitted again after the next start.
  using Submit = std::function<Result<ExperimentId>(const SpecSubmission&)>;
  // What a key has made, whatever its code would be now. Likewise.
  using Known = std::function<std::optional<ExperimentId>(const std::string& key)>;

  // Copies live in `folder`/<name>. Starts looking at once and then every `interval`.
  SpecSync(std::vector<SpecRepository> repositories, std::filesystem::path folder,
           std::chrono::milliseconds interval, Known known, Submit submit, const Clock& clock);
  // Breaks off a fetch under way and waits for the thread; but git cannot be called off while it connects, so
  // after kPatience that is left to itself, and touches nothing of its owner's any more.
  ~SpecSync();

  static constexpr std::chrono::seconds kPatience{2};

  std::vector<SpecRepositoryStatus> status() const;  // any thread

 private:
  class Watcher;
  std::shared_ptr<Watcher> watcher_;  // shared with its thread, which may outlive this
  std::thread thread_;
};

}  // namespace podium
