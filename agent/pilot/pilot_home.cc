#include "agent/pilot/pilot_home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace podium {

Errors make_pilot_homes(const std::filesystem::path& folder) {
  const auto refuse = [&](const std::string& why) {
    return Errors{{ErrorCode::conflict, folder.string() + " " + why, "--home"}};
  };
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return refuse(std::string("cannot be made: ") + std::strerror(errno));
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0)
    return refuse(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return refuse("is not a folder");
  if (found.st_uid != ::geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse("belongs to another user, or others may write there; choose another folder");
  return {};
}

}  // namespace podium
