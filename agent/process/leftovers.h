// Kills processes that tasks leave when their shim was killed, or when the agent has no record of them.
// Nothing else does.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace podium {

// Kills every process that has `variable` ("NAME=value") in its environment, until a look finds none; returns
// how many. Never kills the caller.
int kill_marked(const std::string& variable);

// The same for every process that has the variable `name` with a value that is `doomed`.
int kill_marked(const std::string& name, const std::function<bool(const std::string& value)>& doomed);

// Calls `look` for every process that has the variable `name`, except the caller.
void each_marked(const std::string& name,
                 const std::function<void(pid_t pid, const std::string& value)>& look);

}  // namespace podium
