// A cgroup v2 for each task, where the system lets the agent make them: then even a process that leaves its
// group and session is killed. Elsewhere the shim's process group and subreaping are used.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/id.h"

namespace podium {

class Cgroups {
 public:
  // Groups for the tasks of this home's agent; nothing where there is no writable cgroup v2.
  static std::optional<Cgroups> find(const std::filesystem::path& home);

  std::filesystem::path folder(TaskId task) const;
  // "" where it cannot be made: the task then runs without.
  std::filesystem::path make(TaskId task) const;
  void kill(TaskId task) const;
  void remove(TaskId task) const;  // leaves a group that still holds processes
  void tidy() const;               // removes every group that holds none

 private:
  explicit Cgroups(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path root_;
};

// The mount point of cgroup v2 in the text of /proc/self/mountinfo, and this process's group in that of
// /proc/self/cgroup; "" when there is none.
std::string cgroup_mount(const std::string& mountinfo);
std::string own_cgroup(const std::string& cgroup);

}  // namespace podium
