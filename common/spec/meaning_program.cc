// The rules about a program of the user's own: its environment, working folder, parameters and placeholders.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "common/model/data_path.h"
#include "common/model/program.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"
#include "common/spec/sections.h"
#include "common/spec/suggest.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestName = 63;

// The mapping at the key; an empty one where there is none.
const json& mapping(const Facts& facts, const char* key) {
  static const json none = json::object();
  const json& all = facts.all();
  return all.contains(key) && all[key].is_object() ? all[key] : none;
}

void check_is_for_commands(const Facts& facts, Problems& problems) {
  for (const char* key : kOfPrograms)
    if (facts.has(std::string("/") + key))
      problems.add_key(
          std::string("/") + key,
          fmt::format("{} is for a program of your own and this spec has no command; remove it", key));
}

// Whether the name at `at` is spelled as names of that thing must be.
bool check_name(std::string_view thing, const std::string& name, const std::string& at, Problems& problems) {
  if (is_plain_name(name) && name.size() <= kLongestName) return true;
  problems.add_key(at, fmt::format("the {} {} must have 1 to {} letters, digits and _, and no digit first",
                                   thing, json(name).dump(), kLongestName));
  return false;
}

void check_env(const Facts& facts, Problems& problems) {
  for (const auto& [name, value] : mapping(facts, "env").items())
    check_variable(name, "/env/" + pointer_step(name), problems);
}

void check_parameters(const Facts& facts, Problems& problems) {
  std::map<std::string, std::string> seen;  // by variable
  for (const auto& [name, value] : mapping(facts, "parameters").items()) {
    const std::string at = "/parameters/" + pointer_step(name);
    if (!check_name("parameter", name, at, problems)) continue;
    if (std::ranges::find(kRunPlaceholders, name) != kRunPlaceholders.end())
      problems.add_key(
          at,
          fmt::format("{{{}}} means something else already; choose another name for the parameter", name));
    else if (const auto [twin, is_new] = seen.emplace(parameter_variable(name), name); !is_new)
      problems.add_key(at, fmt::format("the parameters {} and {} would both be the variable {}; rename one",
                                       twin->second, name, twin->first));
  }
}

// All names that a placeholder may have.
std::vector<std::string> known_placeholders(const Facts& facts) {
  std::vector<std::string> known(kRunPlaceholders.begin(), kRunPlaceholders.end());
  for (const auto& [name, value] : mapping(facts, "parameters").items())
    if (is_plain_name(name)) known.push_back(name);
  return known;
}

void check_placeholders(const std::string& pointer, const json& text, const std::vector<std::string>& known,
                        Problems& problems) {
  if (!text.is_string()) return;
  for (const std::string& name : placeholders_in(text.get_ref<const std::string&>())) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto near = closest(name, known);
    const std::string remedy =
        near ? fmt::format("did you mean {{{}}}? Write {{{{{}}}}} to mean the text itself", *near, name)
             : fmt::format("add {} to parameters, or write {{{{{}}}}} to mean the text itself", name, name);
    problems.add(pointer,
                 fmt::format("{} has the unknown placeholder {{{}}}; {}", dotted(pointer), name, remedy));
  }
}

void check_container_placeholders(const Facts& facts, const std::vector<std::string>& known,
                                  Problems& problems) {
  const json& container = mapping(facts, "container");
  for (const char* key : {"mounts", "env"}) {
    const json texts = container.value(key, json());
    for (const auto& [step, value] : texts.items())
      check_placeholders(fmt::format("/container/{}/{}", key, pointer_step(step)), value, known, problems);
  }
  if (container.contains("image"))
    check_placeholders("/container/image", container["image"], known, problems);
}

void check_all_placeholders(const Facts& facts, Problems& problems) {
  const std::vector<std::string> known = known_placeholders(facts);
  const json& command = facts.all()["command"];
  for (std::size_t i = 0; command.is_array() && i < command.size(); ++i)
    check_placeholders("/command/" + std::to_string(i), command[i], known, problems);
  for (const auto& [name, value] : mapping(facts, "env").items())
    check_placeholders("/env/" + pointer_step(name), value, known, problems);
  if (facts.has("/workdir")) check_placeholders("/workdir", facts.all()["workdir"], known, problems);
  check_container_placeholders(facts, known, problems);
}

// The placeholders that every node replaces by an absolute path.
bool begins_absolute(std::string_view path) {
  constexpr std::array<std::string_view, 6> kBeginnings{"/",        "{data}",        "{checkpoints}",
                                                        "{resume}", "{task_folder}", "{inputs}"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return path.starts_with(begin); });
}

// Fills in the parameters. Only the nodes know the other placeholders.
void check_workdir(const Facts& facts, Problems& problems) {
  const auto written = facts.text("/workdir");
  if (!written || written->empty()) return;
  std::map<std::string, std::string> parameters;
  for (const auto& [name, value] : mapping(facts, "parameters").items())
    parameters.emplace(name, parameter_text(value));
  const std::string workdir = fill_placeholders(*written, parameters);
  if (begins_absolute(workdir)) return;
  if (facts.has("/code")) {
    if (leads_out_of_folder(workdir))
      problems.add("/workdir", "workdir leads out of the folder of code, in which it begins");
  } else {
    problems.add("/workdir",
                 fmt::format("workdir ({}) must be an absolute path on the nodes, such as "
                             "/home/me/project or {{data}}/project; or relative to the code, where the "
                             "spec has \"code\"",
                             workdir));
  }
}

}  // namespace

void check_variable(const std::string& name, const std::string& at, Problems& problems) {
  if (check_name("variable", name, at, problems) && is_reserved_variable(name))
    problems.add_key(at, fmt::format("{} is set by Podium itself; choose another name", name));
}

void check_program(const Facts& facts, Problems& problems) {
  if (!facts.has("/command")) return check_is_for_commands(facts, problems);
  check_env(facts, problems);
  check_parameters(facts, problems);
  check_all_placeholders(facts, problems);
  check_workdir(facts, problems);
  check_launch(facts, problems);
}

}  // namespace podium
