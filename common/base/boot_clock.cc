#include "common/base/boot_clock.h"

#include "common/base/file.h"

namespace podium {

std::string boot_id() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

}  // namespace podium
