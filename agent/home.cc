#include "agent/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <system_error>

namespace podium {

Result<Fd> take_home(const std::filesystem::path& home) {
  std::filesystem::create_directories(home);
  std::filesystem::permissions(home, std::filesystem::perms::owner_all);
  const std::filesystem::path path = home / "agent.lock";
  Fd fd = open_file(path, O_RDWR | O_CREAT, 0600);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      throw std::system_error(errno, std::generic_category(), "cannot lock " + path.string());
    std::string holder = read_file(path);
    while (holder.ends_with('\n')) holder.pop_back();
    return Error{
        ErrorCode::conflict,
        "another podium-agent (pid " + holder + ") has this home; stop it, or give --home another folder",
        home.string()};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  write_all(fd.get(), pid, path);  // over the one before, for the disk may be full
  if (::ftruncate(fd.get(), std::ssize(pid)) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  return fd;
}

}  // namespace podium
