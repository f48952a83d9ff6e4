#include "coordinator/specs/spec_sync.h"

#include <algorithm>

#include "common/base/logging.h"
#include "common/spec/load.h"
#include "coordinator/specs/git_mirror.h"

namespace podium {

SpecSync::SpecSync(std::vector<SpecRepository> repositories, std::filesystem::path folder,
                   std::chrono::milliseconds interval, Submit submit, const Clock& clock)
    : folder_(std::move(folder)), interval_(interval), submit_(std::move(submit)), clock_(clock) {
  for (SpecRepository& repository : repositories) status_.push_back({std::move(repository), "", {}, "", {}});
  thread_ = std::thread([this] { run(); });
}

SpecSync::~SpecSync() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<SpecRepositoryStatus> SpecSync::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void SpecSync::run() {
  while (!stop_) {
    for (std::size_t i = 0; i < status_.size() && !stop_; ++i) look(i);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, interval_, [this] { return stop_.load(); });
  }
}

void SpecSync::look(std::size_t index) {
  const SpecRepository repository = status()[index].repository;
  std::string head;
  std::string trouble;
  try {
    GitMirror mirror(repository, folder_ / repository.name, stop_);
    head = mirror.fetch();
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

void SpecSync::submit_changes(std::size_t index, GitMirror& mirror, const std::string& head) {
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

void SpecSync::submit_file(std::size_t index, const SpecFile& file) {
  const SpecRepository repository = status()[index].repository;
  SpecStatus outcome{file.path, file.commit, {}, {}};
  if (file.text) {
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
