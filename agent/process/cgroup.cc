#include "agent/process/cgroup.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>
#include <system_error>

#include "agent/process/home_id.h"
#include "common/base/file.h"

namespace podium {

namespace fs = std::filesystem;

std::string cgroup_mount(const std::string& mountinfo) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    // 36 25 0:31 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw
    const std::size_t separator = line.find(" - cgroup2 ");
    if (separator == std::string::npos) continue;
    std::istringstream words(line.substr(0, separator));
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    return word;
  }
  return "";
}

std::string own_cgroup(const std::string& cgroup) {
  std::istringstream lines(cgroup);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return "";
}

std::optional<Cgroups> Cgroups::find(const fs::path& home) {
  const std::string mount = cgroup_mount(read_file("/proc/self/mountinfo"));
  const std::string own = own_cgroup(read_file("/proc/self/cgroup"));
  if (mount.empty() || own.empty()) return std::nullopt;
  const fs::path parent = mount + own;
  const fs::path root = parent / ("podium-" + home_id(home));
  std::error_code cannot;
  fs::create_directory(root, cannot);
  const bool can_use = ::access((parent / "cgroup.procs").c_str(), W_OK) == 0 &&
                       ::access((root / "cgroup.procs").c_str(), W_OK) == 0 &&
                       ::access((root / "cgroup.kill").c_str(), W_OK) == 0;
  if (cannot || !can_use) return std::nullopt;
  return Cgroups(root);
}

fs::path Cgroups::folder(TaskId task) const { return root_ / to_string(task); }

fs::path Cgroups::make(TaskId task) const {
  std::error_code cannot;
  fs::create_directories(folder(task), cannot);
  return cannot ? fs::path() : folder(task);
}

void Cgroups::kill(TaskId task) const {
  const fs::path path = folder(task) / "cgroup.kill";
  if (fs::exists(path)) write_all(open_file(path, O_WRONLY).get(), "1", path);
}

void Cgroups::remove(TaskId task) const {
  std::error_code busy;
  fs::remove(folder(task), busy);
}

void Cgroups::tidy() const {
  std::error_code busy;
  for (const auto& entry : fs::directory_iterator(root_, busy))
    if (entry.is_directory()) fs::remove(entry.path(), busy);
  fs::remove(root_, busy);
}

}  // namespace podium
