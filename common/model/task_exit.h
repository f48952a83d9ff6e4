// How a task ended, and its only JSON form: in exit.json and task.json, on the wire, in events and in the
// API.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/model/exit_cause.h"

namespace podium {

// Ended by itself with `code`, or by `signal`.
struct TaskExit {
  int code = 0;
  int signal = 0;
  std::string message;  // the task's last error note, or why it could not be started
  ExitCause cause = ExitCause::program;
  // When it failed, by its own record: of ranks that fail together the first to fail is to blame, not the
  // first to be heard of. 0: it recorded none.
  Time failed_at{};

  // Whether the program finished its work. One that was told to leave did not, whatever its code.
  bool succeeded() const { return code == 0 && signal == 0 && cause == ExitCause::program; }
  bool operator==(const TaskExit&) const = default;
};

std::string_view to_string(ExitCause cause);
ExitCause exit_cause_from(std::string_view text);  // throws std::invalid_argument

nlohmann::json to_json(const TaskExit& exit);
TaskExit task_exit_from_json(
    const nlohmann::json& json);  // without a cause, as of before there was one: program

}  // namespace podium
