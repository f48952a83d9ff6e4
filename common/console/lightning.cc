#include <algorithm>

#include "common/console/named_parsers.h"

namespace podium {
namespace {

// FNV-1a: the same on every machine, for an agent of another version may read on.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

std::string bar_metric(std::string_view key) {
  if (key.starts_with("val_")) return "eval/" + std::string(key.substr(4));
  if (key.starts_with("test_")) return "test/" + std::string(key.substr(5));
  if (key.starts_with("train_")) return "train/" + std::string(key.substr(6));
  return "train/" + std::string(key);
}

bool is_evaluation(std::string_view metric) { return !metric.starts_with("train/"); }

// "86.90it/s, v_num=0, train_loss=0.123": what is a name and a number.
void take_values(std::string_view text, ConsoleLine& out) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(part.substr(0, equals));
    const auto value = console_number(part.substr(equals + 1));
    if (value && !key.empty() && key != "v_num") out.values.emplace_back(bar_metric(key), *value);
  }
}

// Values of held-out data stay on the bar until there are others.
void drop_old_evaluations(ConsoleLine& out, ConsoleMemory& memory) {
  std::string text;
  for (const auto& [metric, value] : out.values)
    if (is_evaluation(metric)) text += metric + "=" + std::to_string(value) + ",";
  const std::uint64_t evaluated = text.empty() ? 0 : hash_of(text);
  if (evaluated == memory.evaluated)
    std::erase_if(out.values, [](const auto& entry) { return is_evaluation(entry.first); });
  memory.evaluated = evaluated;
}

// The digits at the end of "|████▋     | 441".
std::string_view last_digits(std::string_view text) {
  const std::size_t before = text.find_last_not_of("0123456789");
  return before == std::string_view::npos ? text : text.substr(before + 1);
}

}  // namespace

ConsoleLine parse_lightning(std::string_view line, ConsoleMemory& memory) {
  const std::string_view bar = after(line, "Epoch ");
  const std::size_t colon = bar.find(':'), open = bar.find(" ["), close = bar.rfind(']');
  if (close == std::string_view::npos || open == std::string_view::npos || colon > open || open > close)
    return {};
  const std::string_view counts = bar.substr(0, open);
  const std::size_t slash = counts.rfind('/');
  if (slash == std::string_view::npos) return {};
  const auto epoch = console_count(bar.substr(0, colon));
  const auto batch = console_count(last_digits(counts.substr(0, slash)));
  const auto batches = console_count(counts.substr(slash + 1));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (!epoch || !batch || !batches || *epoch > kMost || *batches > kMost || *batch > *batches) return {};

  ConsoleLine out;
  const std::string_view values = bar.substr(open, close - open);
  take_values(after(values, ", "), out);
  drop_old_evaluations(out, memory);
  const std::int64_t step = *epoch * *batches + *batch;
  const std::uint64_t seen = hash_of(after(values, "/")) ^ static_cast<std::uint64_t>(step);
  if (out.values.empty() || seen == memory.seen) return {};  // a bar that is drawn again tells nothing new
  memory.seen = seen;
  out.step = step;
  return out;
}

}  // namespace podium
