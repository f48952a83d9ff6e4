// Whether what is written now will last: the database is the file that was opened, and its disk has more than
// the reserve to spare. Below the reserve whatever can wait is refused, so that what cannot wait still finds
// room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/error.h"

namespace podium {

class DiskRoom {
 public:
  // `home`/podium.db is there. `reserve` in bytes; by default 256 MB, or a tenth of a disk of which that is
  // less.
  DiskRoom(std::filesystem::path home, std::optional<std::int64_t> reserve);

  // `unavailable`, with what to do; nothing while all is well. Looks afresh, for a disk gets room again by
  // itself.
  std::optional<Error> refusal() const;

 private:
  std::filesystem::path home_;
  std::optional<std::int64_t> reserve_;
  std::uint64_t file_ = 0;  // the database's inode
};

}  // namespace podium
