#include "coordinator/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "common/base/logging.h"
#include "common/net/token.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortestToken = 16;

bool readable_by_others(const fs::path& file) {
  return (fs::status(file).permissions() & (fs::perms::group_read | fs::perms::others_read)) !=
         fs::perms::none;
}

}  // namespace

Result<Fd> claim_home(const fs::path& home) {
  if (fs::create_directories(home)) fs::permissions(home, fs::perms::owner_all);
  const fs::path lock = home / "coordinator.lock";
  Fd fd = open_file(lock, O_RDWR | O_CREAT, 0600);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK)
    throw std::system_error(errno, std::generic_category(), "cannot lock " + lock.string());
  return Error{ErrorCode::conflict,
               "another coordinator is running with " + home.string() + "; stop it or choose another --home",
               ""};
}

Result<std::string> read_or_make_token(const fs::path& file) {
  if (!fs::exists(file)) {
    fs::create_directories(file.parent_path());
    write_file_atomic(file, random_hex(32) + "\n", 0600);
    spdlog::info("made a token: {}", file.string());
  } else if (readable_by_others(file)) {
    spdlog::warn("{} can be read by other users of this machine; chmod 600 it", file.string());
  }
  std::string token = read_file(file);
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  if (token.size() < kShortestToken || token.find_first_of(" \t\r\n") != std::string::npos)
    return Error{
        ErrorCode::invalid,
        file.string() + " must hold one token of at least 16 characters; remove the file to have one made",
        ""};
  return token;
}

}  // namespace podium
