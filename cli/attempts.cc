#include "cli/attempts.h"

#include <spdlog/fmt/fmt.h>

#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string tasks_text(const json& attempt) {
  std::string text;
  for (const json& task : attempt.value("tasks", json::array()))
    text += fmt::format("{}{} on {} device {}", text.empty() ? "" : ", ", task.value("rank", 0),
                        task.value("node", "?"), task.value("device", 0));
  return text;
}

}  // namespace

std::string attempts_table(const nlohmann::json& attempts, const Terminal& terminal) {
  Table table({{"ATTEMPT", true},
               {"RUN TIME", true},
               {"STEPS", true},
               {"END"},
               {"RANKS", false, true},
               {"REASON", false, true}});
  const std::int64_t now = now_millis();
  for (const json& attempt : attempts) {
    const std::string end =
        attempt.value("end", json()).is_string() ? attempt["end"].get<std::string>() : "–";
    table.add({{std::to_string(attempt.value("number", 0))},
               {run_time_text(attempt, now)},
               {human_count(attempt.value("first_step", std::int64_t{0})) + " to " +
                human_count(attempt.value("last_step", std::int64_t{0}))},
               {end, state_colour(end)},
               {tasks_text(attempt)},
               {attempt.value("reason", "")}});
  }
  return table.empty() ? "" : table.render(terminal);
}

}  // namespace podium::cli
