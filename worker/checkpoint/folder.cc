#include "worker/checkpoint/folder.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "worker/checkpoint/manifest.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kLockName[] = ".lock";

// True where `body` went through; otherwise `warnings` get what could not be done and the way out of it.
template <class Body>
bool attempt(std::vector<std::string>& warnings, const std::string& what, const std::string& remedy,
             const Body& body) {
  try {
    body();
    return true;
  } catch (const std::system_error& error) {
    warnings.push_back(fmt::format("cannot {}: {}; {}", what, error.what(), remedy));
    return false;
  }
}

// Renamed first: a checkpoint of which a part is gone must not be taken for one.
void remove(const fs::path& folder, const std::string& checkpoint) {
  const fs::path going = folder / (kTemporaryPrefix + checkpoint + "-removed");
  fs::remove_all(going);
  fs::rename(folder / checkpoint, going);
  fs::remove_all(going);
}

// The time of its move is what says which ones were moved last.
void set_aside(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  std::error_code ignored;  // where it is another user's, its last change has to do
  fs::last_write_time(from, fs::file_time_type::clock::now(), ignored);
  fs::rename(from, to);
}

void remove_oldest_aside(const fs::path& folder, const std::set<fs::path>& just_moved) {
  std::vector<std::pair<fs::file_time_type, fs::path>> aside;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(kAsidePrefix))
      aside.emplace_back(entry.last_write_time(), entry.path());
  std::ranges::sort(aside, std::greater<>());
  for (std::size_t i = kMostAside; i < aside.size(); ++i)
    if (!just_moved.contains(aside[i].second)) fs::remove_all(aside[i].second);
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path path, bool lead) : path_(std::move(path)) {
  try {
    fs::create_directories(path_);
    if (lead) take();
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot use the checkpoint folder " + path_.string() + ": " + error.what());
  }
}

// Who holds the lock is the only run of this folder: the saves that lie there are dead. Where the file system
// has no locks nobody can know, and they stay.
void CheckpointFolder::take() {
  lock_ = open_file(path_ / kLockName, O_RDWR | O_CREAT);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return;
    throw Failure(WorkerExit::address_in_use,
                  "another run, or an earlier attempt of this one, still writes to the checkpoint folder " +
                      path_.string() + ": end it, or use another folder; nothing was changed there");
  }
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().filename().string().starts_with(kTemporaryPrefix)) dead.push_back(entry.path());
  for (const fs::path& save : dead)
    attempt(warnings_, "remove what a dead attempt left behind", "delete it, for no run reads it",
            [&] { fs::remove_all(save); });
}

void set_aside_from(const fs::path& folder, std::int64_t step, std::vector<std::string>& warnings) {
  std::vector<std::string> names;
  attempt(warnings, "list the checkpoints", "broken ones were not set aside, delete them",
          [&] { names = checkpoints_in(folder); });
  std::set<fs::path> moved;
  for (const std::string& name : names) {
    if (step_of(name) < step) break;  // the newest come first
    const fs::path aside = folder / (kAsidePrefix + name);
    if (!attempt(warnings, "set aside the broken checkpoint " + name, "delete it, for no run goes on from it",
                 [&] { set_aside(folder / name, aside); }))
      continue;
    moved.insert(aside);
    warnings.push_back(
        fmt::format("the checkpoint {} was broken and is set aside as {}{}: delete that once you have looked "
                    "at it; the {} that were set aside last stay",
                    name, kAsidePrefix, name, kMostAside));
  }
  if (!moved.empty())
    attempt(warnings, "remove broken checkpoints that were set aside", "delete them before the disk is full",
            [&] { remove_oldest_aside(folder, moved); });
}

void prune_checkpoints(const fs::path& folder, const std::string& newest, int keep, const std::string& best,
                       std::vector<std::string>& warnings) {
  std::vector<std::string> names;
  attempt(warnings, "list the checkpoints", "old ones were not removed, delete them",
          [&] { names = checkpoints_in(folder); });
  // Where the folder does not show the newest one yet, nothing is known of the others.
  const auto whole = std::ranges::find(names, newest);
  for (auto name = whole; name != names.end(); ++name)
    if (name - whole >= keep && *name != best)
      attempt(warnings, "remove the old checkpoint " + *name, "delete it before the disk is full",
              [&] { remove(folder, *name); });
}

}  // namespace podium
