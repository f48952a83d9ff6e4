#include "coordinator/store/disk_room.h"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace podium {
namespace {

constexpr std::int64_t kReserve = 256'000'000;

// 0: there is no such file.
std::uint64_t inode_of(const std::filesystem::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

DiskRoom::DiskRoom(std::filesystem::path home, std::optional<std::int64_t> reserve)
    : home_(std::move(home)), reserve_(reserve), file_(inode_of(home_ / "podium.db")) {}

std::optional<DiskFigures> DiskRoom::figures() const {
  struct statvfs disk {};
  if (::statvfs(home_.c_str(), &disk) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(disk.f_frsize);
  const std::int64_t size = block * static_cast<std::int64_t>(disk.f_blocks);
  return DiskFigures{block * static_cast<std::int64_t>(disk.f_bavail), size,
                     reserve_.value_or(std::min(kReserve, size / 10))};
}

std::optional<Error> DiskRoom::refusal() const {
  if (inode_of(home_ / "podium.db") != file_)
    return Error{
        ErrorCode::unavailable,
        (home_ / "podium.db").string() +
            " is gone or has been replaced while the coordinator runs, and what it writes now would be lost: "
            "stop it, put the file back, and start it again",
        ""};
  const std::optional<DiskFigures> disk = figures();
  if (!disk || disk->free >= disk->reserve) return std::nullopt;  // a write will say what is wrong
  return Error{
      ErrorCode::unavailable,
      fmt::format("the coordinator's disk is nearly full: {} MB are free where {} is, and {} MB are kept for "
                  "what cannot wait (--disk-reserve); jobs go on, and this works again once there is room",
                  disk->free / 1'000'000, home_.string(), disk->reserve / 1'000'000),
      ""};
}

}  // namespace podium
