#include "common/model/task_exit.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace podium {

using nlohmann::json;

std::string_view to_string(ExitCause cause) { return name_of(cause); }

ExitCause exit_cause_from(std::string_view text) {
  const auto found =
      std::ranges::find(kExitCauseNames, text, [](const char* name) { return std::string_view(name); });
  if (found == std::end(kExitCauseNames))
    throw std::invalid_argument("cause cannot be \"" + std::string(text) + "\"");
  return static_cast<ExitCause>(found - std::begin(kExitCauseNames));
}

json to_json(const TaskExit& exit) {
  json out{{"code", exit.code},
           {"signal", exit.signal},
           {"message", exit.message},
           {"cause", to_string(exit.cause)}};
  if (exit.failed_at != Time{}) out["failed_ms"] = to_millis(exit.failed_at);
  return out;
}

TaskExit task_exit_from_json(const json& in) {
  return {in.at("code"), in.at("signal"), in.value("message", ""),
          exit_cause_from(in.value("cause", std::string(name_of(ExitCause::program)))),
          from_millis(in.value("failed_ms", std::int64_t{0}))};
}

}  // namespace podium
