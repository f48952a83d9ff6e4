// Whether writes are safe at present: the database is still the file that was opened, and its disk has more
// than the reserve free. Below the reserve, work that can wait is refused, so that work that cannot wait has
// room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/error.h"

namespace podium {

struct DiskFigures {
  std::int64_t free = 0, size = 0;  // bytes
  std::int64_t reserve = 0;         // below which what can wait is refused
};

class DiskRoom {
 public:
  // `home`/podium.db must exist. `reserve` is in bytes; by default 256 MB or a tenth of the disk, whichever
  // is less.
  DiskRoom(std::filesystem::path home, std::optional<std::int64_t> reserve);

  // `unavailable`, with the remedy; nothing where writes are safe. Checks the disk in every call.
  std::optional<Error> refusal() const;
  std::optional<DiskFigures> figures() const;  // nothing where the disk does not tell

 private:
  std::filesystem::path home_;
  std::optional<std::int64_t> reserve_;
  std::uint64_t file_ = 0;  // the database's inode
};

}  // namespace podium
