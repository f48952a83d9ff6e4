// Bounds on an agent's report: numbers, lengths and characters, so that no report costs more than that of a
// large node, and no name breaks a line, a header or a path. Checked when a report arrives, before it has any
// effect. Restored states and those of forecasts are trusted.
#pragma once

#include <cstddef>

#include "common/base/error.h"
#include "common/model/sync.h"

namespace podium {

// From its agent; operators may add as many again.
inline constexpr std::size_t kMostNodeLabels = 64;

Errors check_report(const NodeReport& report);

// A task's last message as it is kept: a long one is cut, never refused.
TaskExit cut_exit(TaskExit exit);

}  // namespace podium
