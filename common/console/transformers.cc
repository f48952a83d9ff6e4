#include <algorithm>
#include <cmath>

#include "common/console/named_parsers.h"

namespace podium {
namespace {

// A dictionary as Python prints it, of text to numbers, which may stand in quotes. None and text are passed
// over.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : rest_(text) {}

  // False where it is none.
  bool read() {
    if (!take('{')) return false;
    do {
      std::string_view key, value;
      if (!take_quoted(key) || !take(':') || !(take_quoted(value) || take_bare(value))) return false;
      if (const auto number = console_number(value)) values_.emplace_back(key, *number);
    } while (take(','));
    return take('}');
  }

  const std::vector<std::pair<std::string_view, double>>& values() const { return values_; }

 private:
  bool take(char wanted) {
    rest_ = trimmed(rest_);
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_quoted(std::string_view& out) {
    rest_ = trimmed(rest_);
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool take_bare(std::string_view& out) {
    const std::size_t end = rest_.find_first_of(",}");
    if (end == std::string_view::npos || end == 0) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out.find_first_of("{[('\"") == std::string_view::npos;
  }

  std::string_view rest_;
  std::vector<std::pair<std::string_view, double>> values_;
};

bool is_step(std::string_view key) { return key == "step" || key == "global_step"; }

// As the Trainer's own integrations name them for TensorBoard and others.
std::string trainer_metric(std::string_view key) {
  if (key.starts_with("eval_")) return "eval/" + std::string(key.substr(5));
  if (key.starts_with("test_")) return "test/" + std::string(key.substr(5));
  return "train/" + std::string(key);
}

bool is_report(const Dictionary& dictionary) {
  return std::ranges::any_of(dictionary.values(), [](const auto& entry) {
    return entry.first == "epoch" || entry.first == "loss" || entry.first.ends_with("_loss");
  });
}

// Steps of an epoch by the banner; 0: it was not printed. With max_steps the printed number of epochs is
// rounded up, and only the examples tell.
double steps_per_epoch(const ConsoleMemory& memory) {
  if (memory.steps <= 0 || memory.epochs <= 0) return 0;
  const double by_epochs = static_cast<double>(memory.steps) / static_cast<double>(memory.epochs);
  if (memory.examples <= 0 || memory.batch <= 0) return by_epochs;
  const double by_examples =
      std::ceil(static_cast<double>(memory.examples) / static_cast<double>(memory.batch));
  return std::abs(by_epochs - by_examples) <= 1 ? by_epochs : by_examples;
}

std::optional<std::int64_t> step_of(const Dictionary& dictionary, const ConsoleMemory& memory) {
  const auto& values = dictionary.values();
  const auto told = std::ranges::find_if(values, [](const auto& entry) { return is_step(entry.first); });
  if (told != values.end()) return console_step(told->second);
  const auto epoch = std::ranges::find_if(values, [](const auto& entry) { return entry.first == "epoch"; });
  if (epoch == values.end()) return std::nullopt;
  const double steps = steps_per_epoch(memory);
  return console_step(epoch->second * (steps > 0 ? steps : 1000));
}

// "***** Running training *****", then "  Num Epochs = 3" and so on, with or without a logger's words before
// them. Evaluations have such lines, too.
void take_banner(std::string_view line, ConsoleMemory& memory) {
  if (const auto running = after(line, "***** Running "); !running.empty())
    memory.banner = running.starts_with("training");
  if (!memory.banner || line.find(" = ") == std::string_view::npos) return;
  const auto take = [line](std::string_view key, std::int64_t& out) {
    const auto count = console_count(after(line, key));
    if (count) out = *count;
  };
  take("Num examples = ", memory.examples);
  take("Num Epochs = ", memory.epochs);
  take("Total train batch size (w. parallel, distributed & accumulation) = ", memory.batch);
  take("Total optimization steps = ", memory.steps);
}

}  // namespace

ConsoleLine parse_transformers(std::string_view line, ConsoleMemory& memory) {
  const std::size_t begin = std::min(line.find("{'"), line.find("{\""));
  if (begin == std::string_view::npos) {
    take_banner(line, memory);
    return {};
  }
  Dictionary dictionary(line.substr(begin));
  if (!dictionary.read() || !is_report(dictionary)) return {};
  ConsoleLine out;
  out.step = step_of(dictionary, memory);
  for (const auto& [key, value] : dictionary.values())
    if (!is_step(key)) out.values.emplace_back(trainer_metric(key), value);
  return out;
}

}  // namespace podium
