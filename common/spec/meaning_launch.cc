// The rules about how a program is launched and stopped, its container, and the files that come to its nodes
// and leave them.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/base/units.h"
#include "common/console/console_pattern.h"
#include "common/model/data_path.h"
#include "common/model/program_spec.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// The list at the key; an empty one where there is none.
const json& list(const Facts& facts, const json::json_pointer& at) {
  static const json none = json::array();
  return facts.all().contains(at) && facts.all().at(at).is_array() ? facts.all().at(at) : none;
}

void check_launcher(const Facts& facts, Problems& problems) {
  if (facts.text("/launcher") == "torchrun" && facts.text("/processes") == "device")
    problems.add("/processes", "torchrun is started once on each node; remove processes, or write node");
  if (facts.text("/launcher") == "torchrun" && facts.text("/stop/signal").value_or("TERM").starts_with("USR"))
    problems.add(
        "/stop/signal",
        "torchrun dies of USR1 and USR2, and hands only TERM and INT on to its processes; write TERM");
  const json& command = list(facts, json::json_pointer("/command"));
  if (facts.text("/launcher") != "torchrun" || command.empty() || !command[0].is_string()) return;
  const std::string first = command[0];
  const std::string_view name = std::string_view(first).substr(first.rfind('/') + 1);
  if (name == "torchrun" || name.starts_with("python"))
    problems.add("/command/0",
                 fmt::format("launcher: torchrun starts {} itself; remove it, for the command begins with "
                             "torchrun's options or the script",
                             name == "torchrun" ? "torchrun" : "Python"));
}

// The schema knows the parsers' names.
void check_metrics(const Facts& facts, Problems& problems) {
  const json& regex = list(facts, json::json_pointer("/metrics/regex"));
  for (std::size_t i = 0; i < regex.size(); ++i) {
    if (!regex[i].is_string()) continue;
    if (const auto pattern = ConsolePattern::compile(regex[i]); !pattern)
      problems.add("/metrics/regex/" + std::to_string(i), pattern.errors().front().message);
  }
}

void check_mounts(const Facts& facts, Problems& problems) {
  const json& mounts = list(facts, json::json_pointer("/container/mounts"));
  std::set<std::filesystem::path> targets;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    if (!mounts[i].is_string()) continue;
    const std::string mount = mounts[i];
    const std::size_t colon = mount.find(':');
    std::string target = colon == std::string::npos ? "" : mount.substr(colon + 1);
    if (target.ends_with(":ro")) target.resize(target.size() - 3);
    const bool from_root = mount.starts_with('/') || mount.starts_with('{');
    if (!from_root || !target.starts_with('/') || target.find_first_of(":,\n") != std::string::npos ||
        mount.substr(0, colon).find_first_of(",\n") != std::string::npos)
      problems.add(
          "/container/mounts/" + std::to_string(i),
          fmt::format("a mount reads \"/on/the/node:/in/the/container\", with \":ro\" behind it to be "
                      "read only; not {}",
                      mounts[i].dump()));
    else if (const auto place = std::filesystem::path(target + "/.").lexically_normal();
             place == "/" || !targets.insert(place).second)
      problems.add(
          "/container/mounts/" + std::to_string(i),
          fmt::format("{} hides all that the container has at {}; write a folder of its own behind the \":\"",
                      mounts[i].dump(), place.string()));
  }
}

void check_container(const Facts& facts, Problems& problems) {
  check_mounts(facts, problems);
  if (!facts.has("/container/env") || !facts.all()["container"]["env"].is_object()) return;
  for (const auto& [name, value] : facts.all()["container"]["env"].items())
    check_variable(name, "/container/env/" + pointer_step(name), problems);
}

void check_input(const json& input, const std::string& at, std::set<std::string>& names, Problems& problems) {
  if (!input.is_object()) return;
  const auto text = [&](const char* key) {
    return input.contains(key) && input[key].is_string() ? input[key].get<std::string>() : std::string();
  };
  const std::string from = text("from"), to = text("to");
  const bool address = from.starts_with("http://") || from.starts_with("https://");
  if (address && !input.contains("sha256"))
    problems.add(at + "/from",
                 fmt::format("{} needs sha256 beside it: what an address answers may change", from));
  if (address && from.substr(0, from.find('/', from.find("://") + 3)).find('@') != std::string::npos)
    problems.add(
        at + "/from",
        "an address with a user and a password would be shown to all who read the job; stage from a path");
  if (!address && from.find("://") != std::string::npos)
    problems.add(at + "/from", fmt::format("{} is neither a path nor begins with http:// or https://", from));
  if (!address && leads_out_of_folder(from))
    problems.add(at + "/from", fmt::format("{} leads out of the data folder, in which it begins", from));
  if (to.empty() || to.starts_with('/') || to == "." || leads_out_of_folder(to))
    problems.add(
        at + "/to",
        fmt::format("to must be a name or a path below PODIUM_INPUTS, such as corpus; not \"{}\"", to));
  else if (!names.insert(to).second)
    problems.add(at + "/to", fmt::format("two inputs are named {}; write another \"to\"", to));
}

// The links of PODIUM_INPUTS: none lies in what another leads to.
void check_apart(const json& inputs, const std::set<std::string>& names, Problems& problems) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_object() || !inputs[i].value("to", json()).is_string()) continue;
    const std::string to = inputs[i]["to"];
    for (const std::string& outer : names)
      if (to.starts_with(outer + "/"))
        problems.add("/inputs/" + std::to_string(i) + "/to",
                     fmt::format("{} lies in {}, which is another input; write another \"to\"", to, outer));
  }
}

void check_inputs(const Facts& facts, Problems& problems) {
  const json& inputs = list(facts, json::json_pointer("/inputs"));
  std::set<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_input(inputs[i], "/inputs/" + std::to_string(i), names, problems);
  check_apart(inputs, names, problems);
}

void check_outputs(const Facts& facts, Problems& problems) {
  const json& outputs = list(facts, json::json_pointer("/outputs"));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_string()) continue;
    const std::string path = outputs[i];
    if (path.starts_with('/') || leads_out_of_folder(path))
      problems.add("/outputs/" + std::to_string(i),
                   fmt::format("{} must lie below the working folder, as in results/**", outputs[i].dump()));
  }
}

}  // namespace

void check_launch(const Facts& facts, Problems& problems) {
  check_launcher(facts, problems);
  check_metrics(facts, problems);
  check_container(facts, problems);
  check_inputs(facts, problems);
  check_outputs(facts, problems);
}

void check_stop(const Facts& facts, Problems& problems) {
  check_duration(facts, "/stop/grace", 1s, kLongestGrace, problems);
  check_duration(facts, "/stop/before_walltime", 0s, 24h, problems);
  if (!facts.has("/command") && facts.text("/stop/signal").value_or("TERM") != "TERM")
    problems.add("/stop/signal", "podium-worker saves and leaves at TERM alone; remove stop.signal");
  const auto before = parse_duration(facts.text("/stop/before_walltime").value_or(""));
  const auto walltime = parse_duration(facts.text("/resources/walltime").value_or(""));
  if (before && walltime && *before >= *walltime)
    problems.add("/stop/before_walltime",
                 fmt::format("stop.before_walltime ({}) must be shorter than resources.walltime ({})",
                             format_duration(*before), format_duration(*walltime)));
}

}  // namespace podium
