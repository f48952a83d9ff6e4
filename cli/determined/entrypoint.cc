#include "cli/determined/entrypoint.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "common/model/program.h"

namespace podium::cli {
namespace {

using Words = std::vector<std::string>;

constexpr char kAt[] = "/entrypoint";
constexpr char kLauncher[] = "determined.launch.";

// The words of a command that no shell has to read; nothing where one has to.
std::optional<Words> plain_words(const std::string& text) {
  if (text.find_first_of("\"'\\$`|&;<>()*?[]#~!\n") != std::string::npos) return std::nullopt;
  Words words;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != '\t')
      word += c;
    else if (!word.empty())
      words.push_back(std::move(word)), word.clear();
  }
  if (!words.empty() && words[0].find('=') != std::string::npos) return std::nullopt;  // a variable before it
  return words;
}

bool is_trial_class(const std::string& text) {
  static const std::regex kClass(R"([A-Za-z_][\w.]*:[A-Za-z_][\w.]*|:?[A-Z]\w*)");
  return text.size() < 200 && std::regex_match(text, kClass);
}

bool is_python(const std::string& word) {
  const std::string name = word.substr(word.rfind('/') + 1);
  return name.starts_with("python");
}

Command for_trial(DeterminedExperiment& experiment, const std::string& trial) {
  experiment.left(
      kAt,
      fmt::format("{} is a class that Determined's own harness runs, and Podium starts programs: write a "
                  "train.py that trains with it (for a PyTorchTrial det.pytorch.Trainer runs it without a "
                  "cluster; others in a loop of yours). The command starts that",
                  trial));
  return {{"python3", "train.py"}};
}

bool is_python_script(const std::string& word) { return word == "-m" || word.ends_with(".py"); }

// What follows a launcher.
struct Launched {
  Words script;         // with its arguments
  std::string trial;    // or a class
  std::string options;  // the launcher's own
};

Launched launched_by(const Words& words, std::size_t after) {
  Launched launched;
  for (std::size_t at = after; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--trial" && at + 1 < words.size()) {
      launched.trial = words[++at];
    } else if (word.starts_with("--trial=")) {
      launched.trial = word.substr(8);
    } else if (launched.trial.empty() &&
               (is_python(word) || word.ends_with(".py") || word.ends_with(".sh"))) {
      launched.script.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
      break;
    } else if (word != "--") {
      launched.options += (launched.options.empty() ? "" : " ") + word;
    }
  }
  return launched;
}

Command for_launcher(DeterminedExperiment& experiment, const Words& words, std::size_t at) {
  const std::string launcher = words[at].substr(sizeof kLauncher - 1);
  auto [script, trial, options] = launched_by(words, at + 1);
  if (!options.empty())
    experiment.left(kAt, fmt::format("the launcher's own words are not taken over: {}", options));
  if (script.empty() && trial.empty()) {
    experiment.left(
        kAt, fmt::format("no script follows the launcher {}: the command is python3 train.py", launcher));
    script = {"train.py"};
  }
  for (std::string& word : script) word = without_placeholders(word);
  if (launcher == "horovod") {
    experiment.changed(
        kAt,
        "horovodrun starts the processes of one node; of several nodes they meet as Horovod's own "
        "documents have it");
    if (!trial.empty()) script = for_trial(experiment, trial).words;
    Words all{"horovodrun", "-np", "{node_devices}"};
    all.insert(all.end(), script.begin(), script.end());
    return {all, true};
  }
  if (!trial.empty()) {
    for_trial(experiment, trial);
    script = {"train.py"};
  }
  // torchrun starts scripts with Python itself, but without Python's own options.
  if (script.size() > 1 && is_python(script[0]) && is_python_script(script[1])) script.erase(script.begin());
  Words all{"torchrun"};
  if (!is_python_script(script[0])) all.push_back("--no-python");
  all.insert(all.end(), script.begin(), script.end());
  experiment.changed(
      kAt, launcher == "deepspeed"
               ? "torchrun stands for DeepSpeed's launcher: deepspeed.init_distributed reads its variables"
               : "torchrun stands for Determined's launcher; Podium tells it where the other nodes are");
  return {all, true};
}

}  // namespace

std::string without_placeholders(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end =
        text[at] == '{' && (at == 0 || text[at - 1] != '$') ? text.find('}', at) : std::string::npos;
    if (end != std::string::npos && is_plain_name(text.substr(at + 1, end - at - 1))) {
      out += "{" + text.substr(at, end - at + 1) + "}";
      at = end;
    } else {
      out += text[at];
    }
  }
  return out;
}

Command command_of(DeterminedExperiment& experiment) {
  const nlohmann::json& entrypoint = experiment.at(kAt);
  Words words;
  if (entrypoint.is_string()) {
    const auto text = entrypoint.get<std::string>();
    if (is_trial_class(text)) return for_trial(experiment, text);
    words = plain_words(text).value_or(Words{"bash", "-c", text});
  } else if (entrypoint.is_array()) {
    for (const nlohmann::json& word : entrypoint)
      words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
  }
  std::erase(words, "");
  if (words.empty()) {
    experiment.left(kAt, "there is none: the command is python3 train.py");
    return {{"python3", "train.py"}};
  }
  const auto launcher =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with(kLauncher); });
  Command command{words};
  if (launcher != words.end() && words[0] != "bash")
    return for_launcher(experiment, words, static_cast<std::size_t>(launcher - words.begin()));
  if (words[0] == "bash" && words.back().find(kLauncher) != std::string::npos)
    experiment.left(
        kAt,
        "it starts a launcher of Determined's by a shell: write torchrun in its place, and processes: node");
  for (std::string& word : command.words) word = without_placeholders(word);
  return command;
}

}  // namespace podium::cli
