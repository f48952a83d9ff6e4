#include "coordinator/specs/spec_sync.h"

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
          std::chrono::milliseconds interval, Known known, Submit submit, const Clock& clock)
      : folder_(std::move(folder)),
        interval_(interval),
        known_(std::move(known)),
        submit_(std::move(submit)),
        clock_(clock) {
    for (SpecRepository& repository : repositories) {
      std::vector<SpecStatus> specs = read_specs(file_of(repository));
      status_.push_back({std::move(repository), "", {}, "", std::move(specs)});
    }
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
  // What `ask` asks of the network, which may be silent.
  template <class Ask>
  auto fetch(const Ask& ask);
  std::filesystem::path file_of(const SpecRepository& repository) const {
    return folder_ / repository.name / "podium-specs.json";
  }
  void submit_changes(std::size_t index, GitMirror& mirror, const std::string& head);
  void leave_existing(std::size_t index, const GitMirror& mirror, const std::string& head);
  Result<std::string> code_commit(GitMirror& mirror, const SpecFile& file);
  SpecStatus submit_file(const SpecRepository& repository, GitMirror& mirror, const SpecFile& file);
  Result<ExperimentId> submit_text(const SpecRepository& repository, GitMirror& mirror, const SpecFile& file);
  void keep(std::size_t index, std::vector<SpecStatus> specs);

  const std::filesystem::path folder_;
  const std::chrono::milliseconds interval_;
  // None is touched after a fetch during which it was told to stop.
  const Known known_;
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
                   std::chrono::milliseconds interval, Known known, Submit submit, const Clock& clock)
    : watcher_(std::make_shared<Watcher>(std::move(repositories), std::move(folder), interval,
                                         std::move(known), std::move(submit), clock)),
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
  // Submissions are answered soon; only the network may be silent.
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

template <class Ask>
auto SpecSync::Watcher::fetch(const Ask& ask) {
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
  return ask();
}

void SpecSync::Watcher::look(std::size_t index) {
  const SpecRepository repository = status()[index].repository;
  std::string head;
  std::string trouble;
  try {
    GitMirror mirror(repository, folder_ / repository.name, stop_);
    head = fetch([&] { return mirror.fetch(); });
    if (stop_) return;
    submit_changes(index, mirror, head);
    if (stop_) return;
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
  const SpecRepositoryStatus known = status()[index];
  std::string before = mirror.done();
  if (before.empty() && !known.repository.submit_existing) {
    leave_existing(index, mirror, head);
    mirror.set_done(head);
    return;
  }
  std::vector<SpecStatus> specs = known.specs;
  for (const std::string& commit : mirror.commits(before, head)) {
    const SpecChanges changes = mirror.changes(before, commit);
    for (const auto& [from, to] : changes.moved) move_spec(specs, from, to);
    for (const std::string& path : changes.removed) remove_spec(specs, path);
    for (const SpecFile& file : changes.files) {
      SpecStatus outcome = submit_file(known.repository, mirror, file);
      if (stop_) return;
      put_spec(specs, std::move(outcome));
      keep(index, specs);
    }
    keep(index, specs);
    mirror.set_done(commit);
    before = commit;
  }
}

void SpecSync::Watcher::leave_existing(std::size_t index, const GitMirror& mirror, const std::string& head) {
  std::vector<SpecStatus> specs;
  for (const SpecFile& file : mirror.changes("", head).files) put_spec(specs, {file.path, head, {}, {}});
  if (!specs.empty())
    spdlog::info("specs of {}: the {} that are there already are not submitted; existing=submit would do it",
                 status()[index].repository.name, specs.size());
  keep(index, std::move(specs));
}

void SpecSync::Watcher::keep(std::size_t index, std::vector<SpecStatus> specs) {
  write_specs(file_of(status()[index].repository), specs);
  const std::lock_guard lock(mutex_);
  status_[index].specs = std::move(specs);
}

Result<std::string> SpecSync::Watcher::code_commit(GitMirror& mirror, const SpecFile& file) {
  const auto loaded = load_experiment(*file.text, file.path);
  const CodeSpec* const code = loaded ? code_of(*loaded) : nullptr;
  if (code == nullptr || code->git.empty()) return file.commit;
  const std::string revision = code->git;
  Result<std::string> commit = fetch([&] { return mirror.fetch_revision(revision, file.commit); });
  if (commit) return commit;
  const std::string place = place_in(*file.text, file.path, "/code/git");
  return Error{ErrorCode::invalid, "code.git: " + describe(commit.errors()), place, "/code/git"};
}

Result<ExperimentId> SpecSync::Watcher::submit_text(const SpecRepository& repository, GitMirror& mirror,
                                                    const SpecFile& file) {
  const std::string key = repository.name + "@" + file.commit + ":" + file.path;
  if (const auto made = known_(key)) return *made;
  const Result<std::string> code = code_commit(mirror, file);
  if (!code) return code.errors();
  if (stop_) throw std::runtime_error("the coordinator is stopping");
  const auto files = [&](const std::string& folder) { return mirror.files_in(*code, folder); };
  return submit_({key, *file.text, file.path, repository.url, file.commit, *code, files});
}

SpecStatus SpecSync::Watcher::submit_file(const SpecRepository& repository, GitMirror& mirror,
                                          const SpecFile& file) {
  SpecStatus outcome{file.path, file.commit, {}, {}};
  if (!is_utf8(file.path)) {
    outcome.problems = {{ErrorCode::invalid, "the file's path is not UTF-8; rename it", file.path}};
  } else if (file.text) {
    const Result<ExperimentId> answer = submit_text(repository, mirror, file);
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
  return outcome;
}

}  // namespace podium
