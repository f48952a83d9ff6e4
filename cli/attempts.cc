#include "cli/attempts.h"

#include <spdlog/fmt/fmt.h>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string tasks_text(const json& attempt) {
  std::string text;
  for (const json& task : attempt.value("tasks", json::array()))
    text += fmt::format("{}{} on {} device {}", text.empty() ? "" : ", ", integer_field(task, "rank"),
                        text_field(task, "node", "?"), integer_field(task, "device"));
  return text;
}

std::string steps_text(const json& attempt) {
  if (!field(attempt, "last_step").is_number()) return "–";
  return human_count(integer_field(attempt, "first_step")) + " to " +
         human_count(integer_field(attempt, "last_step"));
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
    const std::string end = text_field(attempt, "end", "–");
    table.add({{std::to_string(integer_field(attempt, "number"))},
               {run_time_text(attempt, now)},
               {steps_text(attempt)},
               {end, state_colour(end)},
               {tasks_text(attempt)},
               {text_field(attempt, "reason")}});
  }
  return table.empty() ? "" : table.render(terminal);
}

}  // namespace podium::cli
