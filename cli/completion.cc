// podium completion: scripts for shells, written from the program's own subcommands and options, so that they
// cannot fall behind.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/print.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// Its words without what shells would read as syntax.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '\'' || c == ':' || c == '[' || c == ']'; });
  return text;
}

// What may follow an option, or stand in an argument's place.
struct Value {
  bool any = false;  // there is one
  bool file = false;
  std::string choices;  // "newest oldest"; "": unknown
  std::string names;    // of what the coordinator has: "nodes"; podium complete nodes prints them
};

// By what stands for a value in the help text.
struct Meaning {
  const char* type;
  const char* choices;
  const char* names;
};
constexpr std::array<Meaning, 11> kMeanings{
    {{"STATES", "queued starting running stopping succeeded failed cancelled stopped", ""},
     {"[-]KEY", "id name state progress loss throughput devices account priority submitted time", ""},
     {"KIND", "cpu gpu", ""},
     {"ACCOUNT", "", "accounts"},
     {"NODE", "", "nodes"},
     {"NAME", "", "experiments"},
     {"NAME|ID", "", "experiments"},
     {"EXPERIMENT", "", "experiment-ids"},
     {"SERVICE", "", "services"},
     {"WEBHOOK", "", "webhooks"},
     {"JOB", "", "jobs"}}};

Value value_of(const CLI::Option& option) {
  Value value;
  value.any = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();
  value.file = type.starts_with("FILE") || option.get_name(true) == "FILE";
  for (const Meaning& meaning : kMeanings) {
    if (type != meaning.type && option.get_name(true) != meaning.type) continue;
    value.choices = meaning.choices;
    value.names = meaning.names;
  }
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return value;
  value.choices = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(value.choices, ',', ' ');
  return value;
}

struct Flag {
  std::string name;  // "--limit"
  std::string description;
  Value value;
};

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      flags.push_back({"--" + name, plain(option->get_description()), value_of(*option)});
  return flags;
}

struct Command {
  const CLI::App* app;
  std::string path;                // "podium nodes drain"
  std::vector<std::string> typed;  // as it may be typed: "podium ls" is "podium list"
  std::vector<const CLI::App*> below;
  std::vector<Flag> flags;  // its own and those that hold everywhere
  Value argument;           // its first
};

void collect(const CLI::App& app, const std::string& above, std::vector<Flag> everywhere,
             std::vector<Command>& commands) {
  const std::string path = above.empty() ? app.get_name() : above + " " + app.get_name();
  Command command{
      &app,          path,
      {path},        app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }),
      flags_of(app), {}};
  for (const std::string& alias : app.get_aliases()) command.typed.push_back(above + " " + alias);
  for (const CLI::Option* option : app.get_options())
    if (!option->nonpositional() && !command.argument.any) command.argument = value_of(*option);
  if (above.empty()) {
    everywhere = command.flags;
    std::erase_if(everywhere, [](const Flag& flag) { return flag.name == "--help"; });
  } else {
    command.flags.insert(command.flags.end(), everywhere.begin(), everywhere.end());
  }
  const std::vector<const CLI::App*> below = command.below;
  commands.push_back(std::move(command));
  for (const CLI::App* each : below) collect(*each, path, everywhere, commands);
}

std::vector<Command> commands_of(const CLI::App& root) {
  std::vector<Command> commands;
  collect(root, "", {}, commands);
  return commands;
}

// Of a case over "PATH WORD": which command it begins.
std::string turns(const std::vector<Command>& commands, const std::string& format) {
  std::string cases;
  for (const Command& command : commands) {
    if (&command == &commands.front()) continue;
    std::string patterns;
    for (const std::string& typed : command.typed)
      patterns += (patterns.empty() ? "\"" : " | \"") + typed + "\"";
    cases += fmt::format(fmt::runtime(format), patterns, command.path);
  }
  return cases;
}

std::string bash_names(const Value& value) { return value.names.empty() ? "" : " names=" + value.names; }

std::string bash(const CLI::App& root) {
  const std::vector<Command> commands = commands_of(root);
  std::string values, words;
  for (const Command& command : commands) {
    std::string here;
    for (const CLI::App* below : command.below) here += below->get_name() + " ";
    for (const Flag& flag : command.flags) {
      here += flag.name + " ";
      if (flag.value.any)
        values +=
            fmt::format("    \"{} {}\") words=\"{}\"{}{} ;;\n", command.path, flag.name, flag.value.choices,
                        flag.value.file ? " files=yes" : "", bash_names(flag.value));
    }
    words += fmt::format("      \"{}\") words=\"{}{}\"{}{} ;;\n", command.path,
                         command.argument.choices + (command.argument.choices.empty() ? "" : " "), here,
                         command.argument.file ? " files=yes" : "", bash_names(command.argument));
  }
  return fmt::format(R"script(# bash completion for podium; load it with: source <(podium completion bash)
_podium() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=podium word words= files= names=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{}    esac
  done
  case "$command $previous" in
{}    *) case $command in
{}    esac ;;
  esac
  [[ $names && $current != -* ]] && words+=" $(podium complete $names 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $files && $current != -* ]] && COMPREPLY+=($(compgen -f -- "$current"))
  return 0
}}
complete -o filenames -F _podium podium
)script",
                     turns(commands, "      {}) command=\"{}\" ;;\n"), values, words);
}

std::string zsh_action(const Value& value) {
  if (!value.names.empty()) return "{compadd -- $(podium complete " + value.names + " 2>/dev/null)}";
  return value.file ? "_files" : value.choices.empty() ? "" : "(" + value.choices + ")";
}

std::string zsh(const CLI::App& root) {
  const std::vector<Command> commands = commands_of(root);
  std::string cases;
  for (const Command& command : commands) {
    std::string arguments, below;
    for (const Flag& flag : command.flags)
      arguments += fmt::format(" '{}[{}]{}'", flag.name, flag.description,
                               flag.value.any ? ":value:" + zsh_action(flag.value) : "");
    for (const CLI::App* each : command.below)
      below += fmt::format(" '{}:{}'", each->get_name(), plain(each->get_description()));
    if (!below.empty())
      cases += fmt::format(
          "    (\"{}\")\n      commands=({} )\n      _arguments -C{} '*:command:->command'\n"
          "      [[ $state == command ]] && _describe command commands ;;\n",
          command.path, below, arguments);
    else
      cases += fmt::format("    (\"{}\") _arguments{} '*:argument:{}' ;;\n", command.path, arguments,
                           zsh_action(command.argument));
  }
  return fmt::format(R"(#compdef podium
# zsh completion for podium; load it with: source <(podium completion zsh)
_podium() {{
  local command=podium state
  local -a commands
  local -i at=1 i
  for (( i = 2; i < CURRENT; ++i )); do
    case "$command $words[i]" in
{}    esac
  done
  words=("${{(@)words[at,-1]}}")
  (( CURRENT -= at - 1 ))
  case $command in
{}  esac
}}
compdef _podium podium
)",
                     turns(commands, "      ({}) command=\"{}\"; at=i ;;\n"), cases);
}

// When the words before are those of a command and none of those below it.
std::string fish_condition(const Command& command) {
  std::string text;
  for (std::size_t at = command.path.find(' '); at != std::string::npos;) {
    const std::size_t next = command.path.find(' ', at + 1);
    text += (text.empty() ? "" : "; and ") +
            ("__fish_seen_subcommand_from " + command.path.substr(at + 1, next - at - 1));
    at = next;
  }
  std::string below;
  for (const CLI::App* each : command.below) below += " " + each->get_name();
  if (below.empty()) return text;
  return text + (text.empty() ? "" : "; and ") + "not __fish_seen_subcommand_from" + below;
}

std::string fish_words(const Value& value) {
  return value.names.empty() ? value.choices : "(podium complete " + value.names + " 2>/dev/null)";
}

std::string fish(const CLI::App& root) {
  std::string text =
      "# fish completion for podium; load it with: podium completion fish | source\ncomplete -c podium -f\n";
  for (const Command& command : commands_of(root)) {
    const std::string condition = fish_condition(command);
    for (const CLI::App* below : command.below)
      text += fmt::format("complete -c podium -n '{}' -a {} -d '{}'\n", condition, below->get_name(),
                          plain(below->get_description()));
    for (const Flag& flag : command.flags) {
      const std::string value = !flag.value.any                  ? ""
                                : flag.value.file                ? " -r -F"
                                : fish_words(flag.value).empty() ? " -x"
                                                                 : " -x -a '" + fish_words(flag.value) + "'";
      text += fmt::format("complete -c podium -n '{}' -l {} -d '{}'{}\n", condition, flag.name.substr(2),
                          flag.description, value);
    }
    if (command.argument.file) text += fmt::format("complete -c podium -n '{}' -F\n", condition);
    if (const std::string words = fish_words(command.argument); !words.empty())
      text += fmt::format("complete -c podium -n '{}' -a '{}'\n", condition, words);
  }
  return text;
}

struct Names {
  const char* path;
  const char* list;  // in the answer
  const char* name;  // of each of the list
  Query query = {};
};

// The names of what the coordinator has, each once. Whoever types has no use for the reason why there are
// none.
void print_names(const std::string& what, Session session) {
  static const std::map<std::string, Names> kNames{
      {"accounts", {"/accounts", "accounts", "account"}},
      {"nodes", {"/nodes", "nodes", "id", {{"limit", "1000"}}}},
      {"experiments", {"/experiments", "experiments", "name", {{"limit", "1000"}}}},
      {"services", {"/services", "services", "name"}},
      {"webhooks", {"/webhooks", "webhooks", "name"}},
      {"experiment-ids", {"/experiments", "experiments", "id", {{"limit", "100"}}}},
      {"jobs", {"/jobs", "jobs", "id", {{"state", "queued,starting,running,stopping"}, {"limit", "100"}}}}};
  const auto found = kNames.find(what);
  if (found == kNames.end()) return;
  const Names& names = found->second;
  if (session.timeout.empty()) session.timeout = "2s";
  std::set<std::string> all;
  try {
    const json reply = Client(session).get(names.path, names.query);
    for (const json& each : reply.at(names.list))
      all.insert(each.at(names.name).is_string() ? each.at(names.name).get<std::string>()
                                                 : each.at(names.name).dump());
  } catch (const Failure&) {
  }
  for (const std::string& name : all) print(name + "\n");
}

}  // namespace

void add_complete(CLI::App& app, Session& session) {
  const auto what = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("complete", "Print the names that a completion script asks for")->group("");
  command
      ->add_option("WHAT", *what, "accounts, nodes, experiments, experiment-ids, services, webhooks or jobs")
      ->required();
  command->callback([what, &session] { print_names(*what, session); });
}

void add_completion(CLI::App& app, Session&) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(R"(
Examples:
  source <(podium completion bash)
  podium completion fish > ~/.config/fish/completions/podium.fish)");
  command->callback([shell, &app] {
    print(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
  });
}

}  // namespace podium::cli
