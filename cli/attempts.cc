#include "cli/attempts.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// "3"; "0–7"; "0,2,5"
std::string folded(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1) text += "–" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string on_one_node(const std::string& node, const std::vector<std::int64_t>& ranks,
                        const std::vector<std::int64_t>& devices) {
  return fmt::format("{} on {} device{} {}", folded(ranks), node, devices.size() == 1 ? "" : "s",
                     folded(devices));
}

std::string steps_text(const json& attempt) {
  if (!field(attempt, "last_step").is_number()) return "–";
  return human_count(integer_field(attempt, "first_step")) + " to " +
         human_count(integer_field(attempt, "last_step"));
}

}  // namespace

std::string ranks_text(const json& attempt) {
  std::string text, node;
  std::vector<std::int64_t> ranks, devices;
  const auto end_node = [&] {
    std::ranges::sort(devices);
    if (!ranks.empty()) text += (text.empty() ? "" : "; ") + on_one_node(node, ranks, devices);
    ranks.clear();
    devices.clear();
  };
  for (const json& task : attempt.value("tasks", json::array())) {
    const std::string its = text_field(task, "node", "?");
    if (its != node) end_node();
    node = its;
    ranks.push_back(integer_field(task, "rank"));
    for (const json& device : task.value("devices", json::array({integer_field(task, "device")})))
      devices.push_back(device.get<std::int64_t>());
  }
  end_node();
  return text;
}

std::string attempts_table(const nlohmann::json& attempts, const Terminal& terminal) {
  Table table({{"ATTEMPT", true},
               {"RUN TIME", true},
               {"STEPS", true},
               {"END"},
               {"RANKS", false, true},
               {"REASON", false, true}});
  const std::int64_t now = now_millis();
  for (const json& attempt : attempts) {
    const std::string end = in_words(text_field(attempt, "end", "–"));
    table.add({{std::to_string(integer_field(attempt, "number"))},
               {attempt_time_text(attempt, now)},
               {steps_text(attempt)},
               {end, state_colour(end)},
               {ranks_text(attempt)},
               {reason_text(attempt)}});
  }
  return table.empty() ? "" : table.render(terminal);
}

}  // namespace podium::cli
