#include "agent/process/home_room.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFolders = 50;
constexpr std::int64_t kFreeBytes = 256'000'000;  // or a tenth of a smaller disk
constexpr std::int64_t kReserveBytes = 256
                                       << 10;  // more than fences.json with all its jobs, of usual numbers
constexpr std::int64_t kBlock = 512;           // of st_blocks

std::int64_t bytes_at(const fs::path& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? kBlock * found.st_blocks : 0;
}

// Includes files of the program, of which there may be many: counting stops beyond `most`.
std::int64_t bytes_in(const fs::path& folder, std::int64_t most) {
  std::int64_t bytes = bytes_at(folder);
  std::error_code cannot;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, cannot),
       end;
       !cannot && it != end && bytes <= most; it.increment(cannot))
    bytes += bytes_at(it->path());
  return bytes;
}

}  // namespace

bool is_no_room(const std::system_error& error) {
  return error.code().value() == ENOSPC || error.code().value() == EDQUOT;
}

bool is_short_of_room(const fs::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return false;  // a write will say why
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t size = block * static_cast<std::int64_t>(disk.f_blocks);
  return block * static_cast<std::int64_t>(disk.f_bavail) < std::min(kFreeBytes, size / 10);
}

HomeRoom::HomeRoom(fs::path home, std::int64_t most)
    : home_(std::move(home)), reserve_(home_ / "reserve"), most_(most) {
  make_reserve();
}

void HomeRoom::keep(TaskId task) {
  const TaskFolder folder(home_, task);
  kept_.push_back({folder, bytes_in(folder.path(), most_)});
  bytes_ += kept_.back().bytes;
  trim();
}

void HomeRoom::drop_kept() {
  kept_.clear();
  bytes_ = 0;
}

void HomeRoom::look() {
  trim();
  make_reserve();
}

void HomeRoom::make_room_for(const std::function<void()>& write) {
  while (true) {
    try {
      return write();
    } catch (const std::system_error& error) {
      if (!is_no_room(error) || !remove_oldest()) throw;
    }
  }
}

void HomeRoom::write_file(const fs::path& path, std::string_view content) {
  try {
    make_room_for([&] { write_file_atomic(path, content, 0600); });
  } catch (const std::system_error& error) {
    if (!is_no_room(error) || !write_in_reserve(path, content)) throw;
    spdlog::warn("{}: the reserve was used for it", error.what());
  }
  make_reserve();
}

// Deletes one folder at a time, because a deletion may take long on the agent's only thread.
void HomeRoom::trim() {
  if (kept_.size() > kMostFolders || bytes_ > most_ || is_short_of_room(home_)) remove_oldest();
}

bool HomeRoom::remove_oldest() {
  if (kept_.empty()) return false;
  const Kept oldest = kept_.front();
  kept_.pop_front();
  bytes_ -= oldest.bytes;
  try {
    oldest.folder.remove();
  } catch (const std::system_error& error) {
    spdlog::warn("{}: a folder of an ended task stays; remove it by hand", error.what());
  }
  return true;
}

// All or nothing, because a part would only take room from others. Where there is no room, a later look tries
// again.
void HomeRoom::make_reserve() const {
  if (bytes_at(reserve_) >= kReserveBytes) return;
  const Fd fd(::open(reserve_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (fd && ::posix_fallocate(fd.get(), 0, kReserveBytes) != 0) ::unlink(reserve_.c_str());
}

// Uses the reserve's own blocks, so that no task can take them first. False where there is no reserve.
bool HomeRoom::write_in_reserve(const fs::path& path, std::string_view content) const {
  if (bytes_at(reserve_) < std::ssize(content)) return false;
  const Fd fd = open_file(reserve_, O_WRONLY);
  write_all(fd.get(), content, reserve_);
  if (::ftruncate(fd.get(), std::ssize(content)) != 0 || ::fsync(fd.get()) != 0 ||
      ::rename(reserve_.c_str(), path.c_str()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path.string());
  sync_folder(home_);
  return true;
}

}  // namespace podium
