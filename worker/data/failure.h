// Why a worker ends before its work is done: the exit code the agent sees and a message for people.
#pragma once

#include <stdexcept>
#include <string>

#include "common/model/launch.h"

namespace podium {

struct Failure : std::runtime_error {
  Failure(WorkerExit code, const std::string& message) : std::runtime_error(message), exit(code) {}
  WorkerExit exit;
};

[[noreturn]] inline void refuse_spec(const std::string& message) {
  throw Failure(WorkerExit::bad_spec, message);
}

}  // namespace podium
