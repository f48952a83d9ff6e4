// podium completion: scripts for shells, written from the program's own subcommands and options, so that they
// cannot fall behind.
#include <spdlog/fmt/fmt.h>

#include <memory>

#include "cli/commands.h"
#include "cli/print.h"

namespace podium::cli {
namespace {

struct Word {
  std::string text;
  std::string description;
};

using Words = std::vector<Word>;

// Its first sentence, without what shells would read as syntax.
std::string plain(std::string text) {
  std::erase_if(text, [](char c) { return c == '\'' || c == ':' || c == '[' || c == ']'; });
  return text;
}

Words options_of(const CLI::App& app) {
  Words words;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      words.push_back({"--" + name, plain(option->get_description())});
  return words;
}

// What a subcommand's options are, with those that hold everywhere.
Words all_options_of(const CLI::App& root, const CLI::App& command) {
  Words words = options_of(command);
  for (Word& word : options_of(root))
    if (word.text != "--help") words.push_back(std::move(word));
  return words;
}

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_file(const std::string& command) {
  return command == "submit" || command == "validate" || command == "simulate";
}

std::string joined(const Words& words) {
  std::string text;
  for (const Word& word : words) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

std::string bash(const CLI::App& root) {
  Words commands;
  std::string cases;
  for (const CLI::App* command : commands_of(root)) {
    commands.push_back({command->get_name(), ""});
    const std::string values = command->get_name() == "completion" ? "bash zsh fish " : "";
    cases += fmt::format("    {}) words=\"{}{}\" ;;\n", command->get_name(), values,
                         joined(all_options_of(root, *command)));
  }
  return fmt::format(R"(# bash completion for podium; load it with: source <(podium completion bash)
_podium() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command= words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  case $command in
{}    *) words="{} {}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case $command:$current in submit:-*|validate:-*) ;; submit:*|validate:*) COMPREPLY+=($(compgen -f -- "$current")) ;; esac
}}
complete -o filenames -F _podium podium
)",
                     cases, joined(commands), joined(options_of(root)));
}

std::string zsh(const CLI::App& root) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : commands_of(root)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), plain(command->get_description()));
    std::string arguments;
    for (const Word& word : all_options_of(root, *command))
      arguments += fmt::format(" '{}[{}]'", word.text, word.description);
    if (takes_file(command->get_name())) arguments += " '*:file:_files'";
    if (command->get_name() == "completion") arguments += " '1:shell:(bash zsh fish)'";
    cases += fmt::format("    {}) _arguments{} ;;\n", command->get_name(), arguments);
  }
  return fmt::format(R"(#compdef podium
# zsh completion for podium; load it with: source <(podium completion zsh)
_podium() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _podium podium
)",
                     commands, cases);
}

std::string fish(const CLI::App& root) {
  std::string text =
      "# fish completion for podium; load it with: podium completion fish | source\ncomplete -c podium -f\n";
  const auto line = [&](const std::string& condition, const Word& word) {
    text += fmt::format("complete -c podium -n '{}' -l {} -d '{}'\n", condition, word.text.substr(2),
                        word.description);
  };
  for (const CLI::App* command : commands_of(root)) {
    const std::string& name = command->get_name();
    const std::string chosen = "__fish_seen_subcommand_from " + name;
    text += fmt::format("complete -c podium -n __fish_use_subcommand -a {} -d '{}'\n", name,
                        plain(command->get_description()));
    for (const Word& word : options_of(*command)) line(chosen, word);
    if (takes_file(name)) text += fmt::format("complete -c podium -n '{}' -F\n", chosen);
    if (name == "completion") text += fmt::format("complete -c podium -n '{}' -a 'bash zsh fish'\n", chosen);
  }
  for (const Word& word : options_of(root)) line("true", word);
  return text;
}

}  // namespace

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
