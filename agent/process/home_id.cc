#include "agent/process/home_id.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

fs::path id_path(const fs::path& home) { return home / "id"; }
fs::path place_path(const fs::path& home) { return home / "place"; }

// Without the device number, which may change with every mount. Where birth times are not known, the inode
// alone counts.
std::string place_of(const fs::path& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot look at " + path.string());
  const bool born = (found.stx_mask & STATX_BTIME) != 0;
  return std::to_string(found.stx_ino) + " " + std::to_string(born ? found.stx_btime.tv_sec : 0) + "." +
         std::to_string(born ? found.stx_btime.tv_nsec : 0) + "\n";
}

// An older agent made the id without it; on a full disk the next start makes it.
void note_place(const fs::path& home) {
  try {
    write_file_atomic(place_path(home), place_of(id_path(home)), 0600);
  } catch (const std::system_error&) {
  }
}

}  // namespace

std::string home_id(const fs::path& home) {
  if (!fs::exists(id_path(home))) renew_home_id(home);
  if (!fs::exists(place_path(home))) note_place(home);
  std::string id = read_file(id_path(home));
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

bool has_copied_id(const fs::path& home) {
  return fs::exists(id_path(home)) && fs::exists(place_path(home)) &&
         read_file(place_path(home)) != place_of(id_path(home));
}

void renew_home_id(const fs::path& home) {
  write_file_atomic(id_path(home), read_file("/proc/sys/kernel/random/uuid"), 0600);
  fs::remove(place_path(home));
  note_place(home);
}

}  // namespace podium
