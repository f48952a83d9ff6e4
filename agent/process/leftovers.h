// Ends what tasks leave when their shim was killed, or the agent's memory of them is gone: nobody else does.
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

// Shows every process that has the variable `name`, but the caller, with its value.
void each_marked(const std::string& name,
                 const std::function<void(pid_t pid, const std::string& value)>& look);

}  // namespace podium
