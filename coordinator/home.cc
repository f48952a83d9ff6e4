#include "coordinator/home.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/base/logging.h"
#include "common/net/token.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShortestToken = 16;

// As write_file_atomic names what it has not finished.
bool is_unfinished(const fs::path& file) {
  constexpr std::string_view kMark = ".tmp.";
  const std::string name = file.filename();
  const std::size_t mark = name.rfind(kMark);
  return mark != std::string::npos && name.find_first_not_of("0123456789", mark + kMark.size()) == name.npos;
}

bool has_content(const fs::path& path) { return fs::exists(path) && !fs::is_empty(path); }

}  // namespace

bool readable_by_others(const fs::path& file) {
  return (fs::status(file).permissions() & (fs::perms::group_read | fs::perms::others_read)) !=
         fs::perms::none;
}

Result<bool> check_history(const fs::path& home, bool begin_anew) {
  if (has_content(home / "podium.db")) return true;
  std::vector<fs::path> traces;
  for (const char* name : {"cluster.id", "logs", "artifacts/runs", "podium.db-wal", "podium.db-shm"})
    if (has_content(home / name)) traces.push_back(home / name);
  if (traces.empty()) return true;
  if (!begin_anew)
    return Error{
        ErrorCode::conflict,
        (home / "podium.db").string() + " is missing or empty, but " + traces.front().string() +
            " shows that jobs ran here; restore the database, or give --begin-anew to begin a new cluster "
            "(what is left of the old one is set aside)",
        ""};
  const fs::path aside = home / ("before-" + random_hex(4));
  fs::create_directory(aside);
  for (const fs::path& trace : traces) fs::rename(trace, aside / trace.filename());
  spdlog::warn("a new cluster begins; what was left of the old one is in {}", aside.string());
  return true;
}

void check_cluster(const fs::path& home, const ClusterName& name, bool begin_anew) {
  const fs::path file = home / "cluster.id";
  if (fs::exists(file)) {
    std::string known = read_file(file);
    while (known.ends_with('\n')) known.pop_back();
    if (known == name.id) return;
    if (!begin_anew)
      throw std::runtime_error(file.string() + " names cluster " + known +
                               ", but the database beside it is that of " + name.id +
                               "; restore the right one, or give --begin-anew");
  }
  write_file_atomic(file, name.id + "\n");
}

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

void sweep_home(const fs::path& home) {
  std::vector<fs::path> left;
  for (const fs::path& folder : {home, home / "code"}) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
      if (is_unfinished(entry.path())) left.push_back(entry.path());
  }
  for (const fs::path& file : left) {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
}

Result<std::string> read_or_make_token(const fs::path& file) {
  if (!fs::exists(file)) {
    fs::create_directories(file.parent_path());
    write_file_atomic(file, random_hex(32) + "\n", 0600);
    spdlog::info("made a token: {}", file.string());
  } else if (readable_by_others(file)) {
    spdlog::warn("{} can be read by other users of this machine; chmod 600 it", file.string());
  }
  std::string token = read_token(file);
  if (token.size() < kShortestToken || token.find_first_of(" \t\r\n") != std::string::npos)
    return Error{
        ErrorCode::invalid,
        file.string() + " must hold one token of at least 16 characters; remove the file to have one made",
        ""};
  return token;
}

}  // namespace podium
