// A line's values by their names, for matchers.
#pragma once

#include <map>
#include <string>

#include "common/console/console_line.h"

namespace podium {

inline std::map<std::string, double> values_of(const ConsoleLine& line) {
  return {line.values.begin(), line.values.end()};
}

}  // namespace podium
