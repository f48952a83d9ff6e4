#include "agent/container_host.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace podium {
namespace {

namespace fs = std::filesystem;

std::string folders_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& variable : environment)
    if (variable.starts_with(kName)) return variable.substr(kName.size());
  return "/usr/local/bin:/usr/bin:/bin";
}

// The first file of that name that may be run; "" for none.
std::string find_program(const std::string& folders, const std::string& name) {
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    const fs::path path = fs::path(folder) / name;
    std::error_code cannot;
    if (path.is_absolute() && fs::is_regular_file(path, cannot) && ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

std::string bound(rlim_t limit) { return limit == RLIM_INFINITY ? "-1" : std::to_string(limit); }

// "nofile=1024:4096"
std::string limit_of(const char* name, __rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  return std::string(name) + "=" + bound(std::min(limit.rlim_cur, most)) + ":" +
         bound(std::min(limit.rlim_max, most));
}

// Podman asks for more by itself, which a root without CAP_SYS_RESOURCE may not have, and gives itself no
// more processes than the kernel has numbers for.
std::vector<std::string> own_limits() {
  rlim_t numbers = RLIM_INFINITY;
  std::ifstream("/proc/sys/kernel/pid_max") >> numbers;
  return {limit_of("memlock", RLIMIT_MEMLOCK, RLIM_INFINITY),
          limit_of("nofile", RLIMIT_NOFILE, RLIM_INFINITY), limit_of("nproc", RLIMIT_NPROC, numbers)};
}

}  // namespace

ContainerHost find_container_host(const std::vector<std::string>& environment, const fs::path& home) {
  ContainerHost host;
  host.searched = folders_in(environment);
  for (const char* name : kContainerRuntimes)
    if (std::string path = find_program(host.searched, name); !path.empty())
      host.runtimes.emplace(name, std::move(path));
  host.user = std::to_string(::getuid()) + ":" + std::to_string(::getgid());
  host.limits = own_limits();
  std::error_code cannot;
  if (const fs::path infiniband = "/dev/infiniband"; fs::exists(infiniband, cannot))
    host.device_files.push_back(infiniband);
  host.images = home / "images";
  return host;
}

}  // namespace podium
