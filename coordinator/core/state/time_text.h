// Times in sentences for people. Programs take the milliseconds beside them.
#pragma once

#include <string>

#include "common/base/time.h"

namespace podium {

// "2026-03-01 12:00:05 UTC"
inline std::string time_text(Time time) {
  std::string text = format_time(time).substr(0, sizeof "2026-03-01T12:00:05" - 1);
  text[text.find('T')] = ' ';
  return text + " UTC";
}

}  // namespace podium
