// Why inputs could not be staged, as it becomes the exit of the tasks that need them.
#pragma once

#include <stdexcept>
#include <string>

#include "common/model/exit_cause.h"

namespace podium {

// refused: no node can stage it. cannot_run: another node may. not_started: this node may later.
class StagingFailure : public std::runtime_error {
 public:
  StagingFailure(ExitCause cause, const std::string& message) : std::runtime_error(message), cause_(cause) {}
  ExitCause cause() const { return cause_; }

 private:
  ExitCause cause_;
};

// Nobody needs it any more.
class StagingStopped : public std::runtime_error {
 public:
  StagingStopped() : std::runtime_error("staging was stopped") {}
};

}  // namespace podium
