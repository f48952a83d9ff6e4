#include <algorithm>
#include <array>

#include "common/console/named_parsers.h"

namespace podium {
namespace {

struct Name {
  std::string_view printed, metric;
  double scale = 1;
};

constexpr std::array<Name, 9> kNames{{{"lm loss", "train/loss"},
                                      {"lm_loss", "train/loss"},
                                      {"learning rate", "train/learning_rate"},
                                      {"grad norm", "train/grad_norm"},
                                      {"loss scale", "train/loss_scale"},
                                      {"elapsed time per iteration (ms)", "train/seconds_per_step", 1e-3},
                                      {"throughput per GPU (TFLOP/s/GPU)", "train/tflops_per_device"},
                                      {"number of skipped iterations", "train/skipped_iterations"},
                                      {"number of nan iterations", "train/nan_iterations"}}};

constexpr std::size_t kMostFields = 64;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// "mtp_1 loss" -> "mtp_1_loss".
std::string plain(std::string_view printed) {
  std::string out;
  for (char c : printed) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (is_word(c))
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

// Some print a value and its mean: "13372.8/13364.7".
std::optional<double> first_number(std::string_view text) {
  return console_number(text.substr(0, text.find('/')));
}

// field(name, value) for each "name: value" between bars.
template <class Field>
void each_field(std::string_view text, const Field& field) {
  for (std::size_t count = 0; !text.empty() && count < kMostFields; ++count) {
    const std::string_view part = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) continue;
    const auto value = first_number(part.substr(colon + 1));
    if (value) field(trimmed(part.substr(0, colon)), *value);
  }
}

void take_training_field(std::string_view printed, double value, ConsoleLine& out) {
  if (printed == "current time") return;
  const auto known = std::ranges::find(kNames, printed, &Name::printed);
  const std::string metric = known != kNames.end() ? std::string(known->metric) : "train/" + plain(printed);
  out.values.emplace_back(metric, known != kNames.end() ? value * known->scale : value);
}

// "  100/  5000 | …": the iteration, how many there will be, and the fields.
bool take_iteration(std::string_view text, ConsoleLine& out, ConsoleMemory& memory) {
  const std::size_t slash = text.find('/');
  const std::size_t bar = text.find('|');
  if (slash == std::string_view::npos || bar == std::string_view::npos || slash > bar) return false;
  const auto step = console_count(text.substr(0, slash));
  const auto steps = console_count(text.substr(slash + 1, bar - slash - 1));
  if (!step || !steps) return false;
  out.step = *step;
  memory.steps = *steps;
  double milliseconds = 0, batch = 0;
  each_field(text.substr(bar + 1), [&](std::string_view printed, double value) {
    if (printed == "elapsed time per iteration (ms)") milliseconds = value;
    if (printed == "global batch size") batch = value;
    take_training_field(printed, value, out);
  });
  if (milliseconds > 0 && batch > 0)
    out.values.emplace_back("train/sequences_per_second", batch * 1e3 / milliseconds);
  return true;
}

// "lm loss PPL" -> "perplexity", "reg loss value" -> "reg_loss", GPT-NeoX's "lm_loss_ppl value" ->
// "perplexity".
std::string evaluation_name(std::string_view printed) {
  std::string name = plain(printed.substr(0, printed.rfind(' ')));
  const bool is_neox = name.ends_with("_ppl");
  if (is_neox) name.resize(name.size() - 4);
  if (name == "lm_loss") name = "loss";
  if (!is_neox && !printed.ends_with(" PPL")) return name;
  return name.ends_with("loss") ? name.substr(0, name.size() - 4) + "perplexity" : name + "_ppl";
}

// "loss at iteration 1000 on test set | lm loss value: … | lm loss PPL: … |", or "loss at the end of training
// for test data | …", which is of the last iteration; GPT-NeoX says results.
void take_evaluation(std::string_view text, ConsoleLine& out, const ConsoleMemory& memory) {
  const std::string_view head = text.substr(0, text.find('|'));
  const std::string_view number = trimmed(after(head, " at iteration "));
  const auto step = console_count(number.substr(0, number.find(' ')));
  if (!step && memory.counts) return;
  const bool test = head.find("test") != std::string_view::npos;
  each_field(text.substr(head.size()), [&](std::string_view printed, double value) {
    if (printed.ends_with(" PPL") || printed.ends_with(" value"))
      out.values.emplace_back((test ? "test/" : "eval/") + evaluation_name(printed), value);
  });
  if (!out.values.empty()) out.step = step.value_or(memory.step);
}

}  // namespace

ConsoleLine parse_megatron(std::string_view line, ConsoleMemory& memory) {
  ConsoleLine out;
  for (const std::string_view words : {"validation loss", "validation results", "test results"}) {
    const std::size_t at = line.find(words);
    if (at == std::string_view::npos) continue;
    take_evaluation(line.substr(at), out, memory);
    return out;
  }
  const std::string_view iteration = after(line, "iteration ");
  if (iteration.empty() || !take_iteration(iteration, out, memory)) return {};
  return out;
}

}  // namespace podium
