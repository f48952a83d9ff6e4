#include "coordinator/specs/spec_sync.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "common/base/logging.h"
#include "common/spec/load.h"
#include "common/spec/yaml_text.h"
#include "coordinator/specs/git_mirror.h"

namespace podium {

// All that the thread works with.
class SpecSync::Watcher {
 public:
  Watcher(std::vector<SpecRepository> repositories, std::filesystem::path folder,
          std::chrono::milliseconds interval, Submit submit, const Clock& clock)
      : folder_(std::move(folder)), interval_(interval), submit_(std::move(submit)), clock_(clock) {
    for (SpecRepository& repository : repositories)
      status_.push_back({std::move(repository), "", {}, "", {}});
  }

  void run();
  // True once run() has returned; false when it has been fetching for `patience` and does not come back.
  bool stop(std::chrono::milliseconds patience);
  std::vector<SpecRepositoryStatus> status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  void look(std::size_t index);
  std::string fetch(GitMirror& mirror);
  void submit_changes(std::size_t index, GitMirror& mirror, const std::string& head);
  void submit_file(std::size_t index, const SpecFile& file);

  const std::filesystem::path folder_;
  const std::chrono::milliseconds interval_;
  // Neither is touched after a fetch during which it was told to stop.
  const Submit submit_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<SpecRepositoryStatus> status_;  // guarded by mutex_, as the next two
  bool fetching_ = false;
  bool ended_ = false;
  std::atomic<bool> stop_ = false;
};

SpecSync::SpecSync(std::vector<SpecRepository> repositories, std::filesystem::path folder,
                   std::chrono::milliseconds interval, Submit submit, const Clock& clock)
    : watcher_(std::make_shared<Watcher>(std::move(repositories), std::move(folder), interval,
                                         std::move(submit), clock)),
      thread_([watcher = watcher_] { watcher->run(); }) {}

SpecSync::~SpecSync() {
  if (watcher_->stop(kPatience))
    thread_.join();
  else
    thread_.detach();
}

std::vector<SpecRepositoryStatus> SpecSync::status() const { return watcher_->status(); }

bool SpecSync::Watcher::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  // What it submits is answered soon; only the network may be silent.
  wake_.wait(lock, [this] { return ended_ || fetching_; });
  wake_.wait_for(lock, patience, [this] { return ended_; });
  if (ended_) return true;
  wake_.wait(lock, [this] { return ended_ || fetching_; });
  return ended_;
}

void SpecSync::Watcher::run() {
  while (!stop_) {
    for (std::size_t i = 0; i < status_.size() && !stop_; ++i) look(i);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, interval_, [this] { return stop_.load(); });
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_.notify_all();
}

std::string SpecSync::Watcher::fetch(GitMirror& mirror) {
  const auto set = [this](bool fetching) {
    const std::lock_guard lock(mutex_);
    fetching_ = fetching;
    wake_.notify_all();
  };
  struct Fetching {
    const decltype(set)& note;
    ~Fetching() { note(false); }
  } fetching{set};
  set(true);
  return mirror.fetch();
}

void SpecSync::Watcher::look(std::size_t index) {
  const SpecRepository repository = status()[index].repository;
  std::string head;
  std::string trouble;
  try {
    GitMirror mirror(repository, folder_ / repository.name, stop_);
    head = fetch(mirror);
    if (stop_) return;
    submit_changes(index, mirror, head);
  } catch (const std::exception& error) {  // the world: tried again at the next look
    if (stop_) return;
    trouble = error.what();
    spdlog::warn("specs of {}: {}", repository.name, trouble);
  }
  const std::lock_guard lock(mutex_);
  SpecRepositoryStatus& status = status_[index];
  if (!head.empty()) status.commit = head;
  status.checked = clock_.now();
  status.error = trouble;
}

void SpecSync::Watcher::submit_changes(std::size_t index, GitMirror& mirror, const std::string& head) {
  std::string before = mirror.done();
  for (const std::string& commit : mirror.commits(before, head)) {
    for (const SpecFile& file : mirror.changed(before, commit)) {
      if (stop_) return;
      submit_file(index, file);
    }
    mirror.set_done(commit);
    before = commit;
  }
}

void SpecSync::Watcher::submit_file(std::size_t index, const SpecFile& file) {
  const SpecRepository repository = status()[index].repository;
  SpecStatus outcome{file.path, file.commit, {}, {}};
  if (!is_utf8(file.path)) {
    outcome.problems = {{ErrorCode::invalid, "the file's path is not UTF-8; rename it", file.path}};
  } else if (file.text) {
    const std::string key = repository.name + "@" + file.commit + ":" + file.path;
    const Result<ExperimentId> answer = submit_({key, *file.text, file.path, repository.url, file.commit});
    if (answer.ok())
      outcome.experiment = *answer;
    else
      outcome.problems = answer.errors();
  } else {
    outcome.problems = {{ErrorCode::too_large,
                         "the spec is larger than " + std::to_string(kMaxSpecBytes) + " bytes", file.path}};
  }
  if (outcome.problems.empty())
    spdlog::info("specs of {}: {} at {} is experiment {}", repository.name, file.path,
                 file.commit.substr(0, 12), to_string(*outcome.experiment));
  else
    spdlog::warn("specs of {}: {} at {} was refused: {}", repository.name, file.path,
                 file.commit.substr(0, 12), describe(outcome.problems));
  const std::lock_guard lock(mutex_);
  auto& specs = status_[index].specs;
  const auto at =
      std::lower_bound(specs.begin(), specs.end(), outcome.path,
                       [](const SpecStatus& status, const std::string& path) { return status.path < path; });
  if (at != specs.end() && at->path == outcome.path)
    *at = std::move(outcome);
  else
    specs.insert(at, std::move(outcome));
}

}  // namespace podium
