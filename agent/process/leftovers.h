// Ends what a task leaves when its shim was killed: the one case in which nobody else does.
#pragma once

#include <string>

namespace podium {

// Kills every process that has `variable` ("NAME=value") in its environment, until a look finds none; returns
// how many. Never kills the caller.
int kill_marked(const std::string& variable);

}  // namespace podium
