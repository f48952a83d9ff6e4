#include "worker/commands/latency_report.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "common/spec/defaults.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

constexpr std::string_view kInference = "-inference";  // "bert-large-inference": the benchmark of that preset
constexpr SessionShape kPublished{.sequences = 1, .length = 128};

[[noreturn]] void refuse_shape(const std::string& text) {
  refuse_spec(
      fmt::format("--shape {}: sequences x tokens, such as 1x128, or 1,8x128,384 for all four", text));
}

std::vector<int> numbers_from(std::string_view list, const std::string& text) {
  std::vector<int> numbers;
  const char* place = list.data();
  const char* const end = place + list.size();
  do {
    int number = 0;
    const auto [next, error] = std::from_chars(place, end, number);
    if (error != std::errc() || number < 1 || (next != end && *next != ',')) refuse_shape(text);
    numbers.push_back(number);
    place = next == end ? end : next + 1;
    if (next != end && place == end) refuse_shape(text);
  } while (place != end);
  return numbers;
}

bool is_preset(const ModelSpec& model, std::string_view name) {
  const ModelPreset* const preset = find_preset(name);
  return preset != nullptr && preset->family == to_string(model.family) && preset->layers == model.layers &&
         preset->hidden == model.hidden && preset->heads == model.heads;
}

}  // namespace

std::vector<SessionShape> shapes_from(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) refuse_shape(text);
  std::vector<SessionShape> shapes;
  for (const int sequences : numbers_from(std::string_view(text).substr(0, cross), text))
    for (const int length : numbers_from(std::string_view(text).substr(cross + 1), text))
      shapes.push_back({.sequences = sequences, .length = length});
  return shapes;
}

std::vector<PublishedRow> published_latencies(const ModelSpec& model, const SessionShape& shape) {
  std::vector<PublishedRow> rows;
  if (shape != kPublished) return rows;
  for (const PublishedRow& row : shipped_published()) {
    std::string_view name = row.benchmark;
    if (!name.ends_with(kInference) || row.unit != "ms") continue;
    name.remove_suffix(kInference.size());
    if (is_preset(model, name)) rows.push_back(row);
  }
  return rows;
}

std::string latency_json(const MeasuredLatency& m, const std::vector<PublishedRow>& published) {
  nlohmann::json line{{"model", m.model},
                      {"device", m.device},
                      {"precision", m.precision},
                      {"sparse", m.sparse},
                      {"batch", m.shape.sequences},
                      {"length", m.shape.length},
                      {"warmup", m.warmup},
                      {"repeats", m.repeats},
                      {"median_ms", m.latency.median_ms},
                      {"p90_ms", m.latency.p90_ms},
                      {"p99_ms", m.latency.p99_ms},
                      {"sequences_per_second", m.latency.sequences_per_second}};
  for (const PublishedRow& row : published) line["published"].push_back(to_json(row));
  return line.dump() + "\n";
}

std::string latency_heading(const MeasuredLatency& m) {
  return fmt::format(
      "{} on {}, {}{}; {} passes a shape, after {} to warm up\n{:>15} {:>12} {:>12} {:>12} {:>12}\n", m.model,
      m.device, m.precision, m.sparse ? " 2:4 sparse" : "", m.repeats, m.warmup, "batch x length", "p50 ms",
      "p90 ms", "p99 ms", "sequences/s");
}

std::string latency_row(const MeasuredLatency& m) {
  return fmt::format("{:>15} {:>12.3f} {:>12.3f} {:>12.3f} {:>12.1f}\n",
                     fmt::format("{} x {}", m.shape.sequences, m.shape.length), m.latency.median_ms,
                     m.latency.p90_ms, m.latency.p99_ms, m.latency.sequences_per_second);
}

std::string published_text(const std::vector<PublishedRow>& published) {
  if (published.empty()) return "";
  std::string text = fmt::format("\nothers published, of {}:\n", published.front().what);
  for (const PublishedRow& row : published)
    text += fmt::format("{:>15} {:>9.2f} ms  {:<18} {}, {}\n", row.hardware, row.value, row.precision,
                        row.source, row.date);
  return text;
}

}  // namespace podium
