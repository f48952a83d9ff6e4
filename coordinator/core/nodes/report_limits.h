// What an agent may say of its node: bounded numbers, lengths and characters, so that no report can cost more
// than a large node does, and no name of one can break a line, a header or a path. Checked where a
// report comes in, before anything of it counts; a state that was restored, or is a forecast's, is trusted.
#pragma once

#include <cstddef>

#include "common/base/error.h"
#include "common/model/sync.h"

namespace podium {

// Of its agent; of its operators so many again.
inline constexpr std::size_t kMostNodeLabels = 64;

Errors check_report(const NodeReport& report);

// A task's last words as they are kept: cut where a program was long-winded, never a reason to refuse.
TaskExit cut_exit(TaskExit exit);

}  // namespace podium
