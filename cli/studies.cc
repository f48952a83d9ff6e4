// podium studies: the experiments of several jobs.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// "weak, 1 2 4 devices", "training.optimizer.lr"
std::string varied(const json& study) {
  std::string text;
  if (const json scaling = field(study, "scaling"); scaling.is_object()) {
    text = text_field(scaling, "mode") + ",";
    for (const json& devices : scaling.at("devices")) text += " " + devices.dump();
    text += " devices";
    if (integer_field(scaling, "repeat") > 1)
      text += fmt::format(", {} seeds", integer_field(scaling, "repeat"));
  }
  const json sweep = field(study, "sweep");
  if (!sweep.is_object()) return text;
  for (const auto& [path, values] : sweep.items()) {
    if (values.is_array()) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", path, values.size());
    if (values.is_object() && values.contains("from"))
      text += fmt::format("{}{} ({}–{})", text.empty() ? "" : ", ", path, values.at("from").dump(),
                          values.at("to").dump());
  }
  if (sweep.contains("trials")) text += fmt::format(", {} trials", integer_field(sweep, "trials"));
  if (sweep.contains("asha")) text += ", asha";
  return text;
}

std::string states_text(const json& states) {
  std::string text;
  for (const auto& [state, count] : states.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<int>(), state);
  return text;
}

std::string studies_table(const json& studies, const Terminal& terminal) {
  Table table({{"STUDY", true},
               {"NAME", false, true, 10},
               {"KIND"},
               {"VARIES", false, true, 12},
               {"STATE"},
               {"JOBS", false, true, 12, 1},
               {"CREATED", true}});
  for (const json& study : studies) {
    const std::string state = text_field(study, "state");
    table.add({{std::to_string(integer_field(study, "id"))},
               {text_field(study, "name")},
               {text_field(study, "kind")},
               {varied(study)},
               {state, state_colour(state)},
               {states_text(study.at("states"))},
               {human_ago(field(study, "created_ms"), now_millis())}});
  }
  return table.empty() ? "No studies. Submit one: podium submit configs/scaling-study.yaml\n"
                       : table.render(terminal);
}

}  // namespace

void add_studies(CLI::App& app, Session& session) {
  const auto limit = std::make_shared<std::size_t>(50);
  CLI::App* command = app.add_subcommand("studies", "List the experiments of several jobs");
  command->add_option("--limit", *limit, "At most this many, newest first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->footer(R"(
A spec with "scaling:" or "sweep:" is a study; its number is its experiment's.

Examples:
  podium studies
  podium studies --json | jq '.studies[] | {id, name, state}')");
  command->callback([limit, &session] {
    const json reply = Client(session).get_pages("/studies", {}, "studies", *limit);
    print(session.json ? reply.dump() + "\n" : studies_table(reply.at("studies"), detect_terminal()));
  });
}

}  // namespace podium::cli
