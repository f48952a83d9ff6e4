// "1 point", "1,234 points".
#pragma once

#include <cstdint>
#include <string>

#include "cli/humanise.h"

namespace podium::cli {

inline std::string counted(std::uint64_t count, const char* what) {
  return human_count(static_cast<std::int64_t>(count)) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace podium::cli
