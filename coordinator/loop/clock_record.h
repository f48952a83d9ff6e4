// How the cluster's time stood to the machine's boot clock, in `home`/clock.json: what a coordinator that
// starts takes the wall clock for may be another time than the one before it went by, and this tells by how
// much. Nobody can tell across a restart of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace podium {

class ClockRecord {
 public:
  // `boot`: boot_id(). A file that is not there or says nothing is as none.
  ClockRecord(const std::filesystem::path& home, std::string boot);

  // By how much cluster time that is `ahead` of the boot clock is ahead of the one on record; nothing where
  // they are within a second, or nothing is on record of this boot.
  std::optional<Duration> step(Duration ahead) const;

  // Written where it has moved by a tenth of a second. Throws std::system_error.
  void keep(Duration ahead);

 private:
  std::filesystem::path path_;
  std::string boot_;
  std::optional<Duration> kept_;
};

}  // namespace podium
