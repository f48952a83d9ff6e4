#include "cli/trials_text.h"

#include <spdlog/fmt/fmt.h>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

std::string value_text(const json& value) {
  return value.is_number() ? fmt::format("{:.5g}", value.get<double>()) : "NaN";
}

std::string parameter_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "lr" of training.optimizer.lr.
std::string short_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string rule_text(const json& asha) {
  std::string rungs;
  for (const json& rung : asha.at("rungs"))
    rungs +=
        fmt::format("{}{} ({} reported, {} went on)", rungs.empty() ? "" : ", ", integer_field(rung, "step"),
                    integer_field(rung, "told"), integer_field(rung, "went_on"));
  return fmt::format("by {} ({}), one of {} goes on at step {}; winners train to step {}\n",
                     text_field(asha, "metric"), text_field(asha, "goal"), integer_field(asha, "reduction"),
                     rungs, integer_field(asha, "max_steps"));
}

std::string best_text(const json& asha) {
  const json& best = asha.at("best");
  if (!best.is_object()) return "best so far: no trial has reported its metric\n";
  std::string parameters;
  for (const auto& [path, value] : best.at("parameters").items())
    parameters += fmt::format(", {} {}", path, parameter_text(value));
  return fmt::format("best so far: job {}{}: {} at step {}\n", integer_field(best, "job"), parameters,
                     value_text(best.at("value")), integer_field(best, "step"));
}

std::string spent_text(const json& asha) {
  const double spent = asha.at("device_seconds");
  std::string text = "device time: " + human_seconds(spent);
  const json& full = asha.at("full_device_seconds");
  if (full.is_number() && full > 0)
    text += fmt::format(" of about {} that all trials would take to their ends ({:.0f} %)",
                        human_seconds(full.get<double>()), 100 * spent / full.get<double>());
  return text + "\n";
}

std::string rung_text(const json& trial) {
  if (flag_field(trial, "to_its_end")) return "end";
  const std::int64_t rung = integer_field(trial, "rung");
  return rung == 0 ? "–" : std::to_string(rung);
}

std::string state_text(const json& trial) {
  const std::string state = text_field(trial, "state");
  return state == "paused" ? fmt::format("paused at rung {}", integer_field(trial, "rung")) : state;
}

std::string at_rung(const json& trial, std::int64_t rung) {
  for (const json& report : trial.at("reports"))
    if (integer_field(report, "rung") == rung) return value_text(report.at("value"));
  return "–";
}

std::string latest_text(const json& trial) {
  const json& latest = trial.at("latest");
  return latest.is_object() ? value_text(latest.at("value")) : "–";
}

std::string trials_table(const json& study, const Terminal& terminal) {
  const json& members = study.at("members");
  const json& rungs = study.at("asha").at("rungs");
  std::vector<Column> columns{{"JOB", true}};
  for (const auto& [path, value] : members.front().at("parameters").items())
    columns.push_back({short_name(path), true});
  columns.insert(columns.end(), {{"STATE"}, {"RUNG", true}});
  for (const json& rung : rungs)
    columns.push_back({fmt::format("STEP {}", integer_field(rung, "step")), true});
  columns.insert(columns.end(), {{"LATEST", true}, {"STEPS", true}});
  Table table(columns);
  for (const json& member : members) {
    const json& trial = member.at("trial");
    const std::string state = text_field(member, "state");
    std::vector<Cell> row{{std::to_string(integer_field(member, "job"))}};
    for (const auto& [path, value] : member.at("parameters").items()) row.push_back({parameter_text(value)});
    row.push_back({state_text(trial), state_colour(state)});
    row.push_back({rung_text(trial)});
    for (const json& rung : rungs) row.push_back({at_rung(trial, integer_field(rung, "rung"))});
    row.push_back({latest_text(trial), Colour::bold});
    row.push_back({std::to_string(integer_field(trial, "steps"))});
    table.add(row);
  }
  return table.render(terminal);
}

}  // namespace

std::string trials_text(const json& study, const Terminal& terminal) {
  const json& asha = study.at("asha");
  return rule_text(asha) + best_text(asha) + spent_text(asha) + "\n" + trials_table(study, terminal);
}

}  // namespace podium::cli
