// <home>/lease: until when the node may run its tasks. The agent writes it, every podium-shim reads it, so
// that the lease also holds when the agent is dead.
#pragma once

#include <filesystem>

#include "common/base/file.h"
#include "common/base/time.h"

namespace podium {

class LeaseFile {
 public:
  explicit LeaseFile(const std::filesystem::path& home);

  // `end` is on the clock that counts from the machine's start.
  void set(Time end) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
};

}  // namespace podium
