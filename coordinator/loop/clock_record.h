// The offset of the cluster's time from the machine's boot clock, in `home`/clock.json. A starting
// coordinator takes its time from the wall clock, which may differ from the time of the previous coordinator;
// the record says by how much. It is of no use across a restart of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace podium {

class ClockRecord {
 public:
  // `boot`: boot_id(). A missing or unreadable file counts as no record.
  ClockRecord(const std::filesystem::path& home, std::string boot);

  // By how much a cluster time that is `ahead` of the boot clock is ahead of the recorded one; nothing where
  // they differ by less than a second, or where there is no record of this boot.
  std::optional<Duration> step(Duration ahead) const;

  // Writes the record if it has moved by a tenth of a second. Throws std::system_error.
  void keep(Duration ahead);

 private:
  std::filesystem::path path_;
  std::string boot_;
  std::optional<Duration> kept_;
};

}  // namespace podium
