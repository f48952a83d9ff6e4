#include "worker/commands/local_summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/model/codec.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Takes a run's events one after another.
class Reader {
 public:
  explicit Reader(fs::path checkpoints) : checkpoints_(std::move(checkpoints)) {}

  void take(const WorkerEvent& event) {
    std::visit([&](const auto& body) { take(body, event.time); }, event.body);
  }
  const LocalSummary& summary() const { return summary_; }

 private:
  void take(const StartedEvent& event, Time at) {
    summary_.first_step = summary_.step = event.step;
    summary_.steps = event.steps;
    summary_.parameters = event.parameters;
    began_ = at;
  }
  void take(const MetricsEvent& event, Time at) {
    for (const auto& [name, value] : event.values) summary_.metrics[name] = value;
    reach(event.step, at);
  }
  void take(const CheckpointEvent& event, Time at) {
    summary_.checkpoint = checkpoints_ / event.path;
    reach(event.step, at);
  }
  void take(const TargetEvent& event, Time at) {
    summary_.target = event;
    reach(event.step, at);
  }
  void take(const NoteEvent&, Time) {}
  void take(const PhaseEvent&, Time) {}
  void take(const FinishedEvent& event, Time at) {
    summary_.status = event.status;
    reach(event.step, at);
  }

  void reach(std::int64_t step, Time at) {
    summary_.step = std::max(summary_.step, step);
    if (began_) summary_.seconds = std::chrono::duration<double>(at - *began_).count();
  }

  fs::path checkpoints_;
  LocalSummary summary_;
  std::optional<Time> began_;
};

json layout_json(const JobSpec& spec) {
  const int model = spec.parallel.tensor * spec.parallel.pipeline;
  return {{"tensor", spec.parallel.tensor},
          {"pipeline", spec.parallel.pipeline},
          {"data", spec.resources.devices / model}};
}

std::string summary_title(const LocalSummary& summary, const JobSpec& spec) {
  if (summary.steps == 0 && summary.status == "preempted")
    return spec.name + ": stopped before the first step; nothing saved";
  const json layout = layout_json(spec);
  const std::string verb = summary.status == "succeeded"   ? "trained"
                           : summary.status == "preempted" ? "stopped and saved"
                                                           : "failed";
  return fmt::format("{} {}: step {} of {} in {}, {} process{} (tensor {} × pipeline {} × data {})", verb,
                     spec.name, summary.step, summary.steps,
                     format_duration(std::chrono::seconds(std::lround(summary.seconds))),
                     spec.resources.devices, spec.resources.devices == 1 ? "" : "es",
                     layout["tensor"].get<int>(), layout["pipeline"].get<int>(), layout["data"].get<int>());
}

void for_each_event(const fs::path& events, std::int64_t begin, const auto& take) {
  std::istringstream lines(fs::exists(events) ? read_file(events).substr(static_cast<std::size_t>(begin))
                                              : "");
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;  // cut off as the rank died
    take(worker_event_from_json(json::parse(line)));
  }
}

}  // namespace

fs::path events_of(const fs::path& out_folder, std::size_t rank) {
  return out_folder / ("rank-" + std::to_string(rank)) / "events.jsonl";
}

LocalSummary summarise(const fs::path& events, std::int64_t begin, const fs::path& checkpoints) {
  Reader reader(fs::absolute(checkpoints));
  for_each_event(events, begin, [&](const WorkerEvent& event) { reader.take(event); });
  return reader.summary();
}

std::string first_failure(const fs::path& out_folder, const std::vector<std::int64_t>& begins) {
  std::optional<Time> first;
  std::string why;
  for (std::size_t rank = 0; rank < begins.size(); ++rank)
    for_each_event(events_of(out_folder, rank), begins[rank], [&](const WorkerEvent& event) {
      const auto* const note = std::get_if<NoteEvent>(&event.body);
      if (note == nullptr || note->level != "error" || (first && *first <= event.time)) return;
      first = event.time;
      why = note->message;
    });
  return why;
}

json to_json(const LocalSummary& summary, const JobSpec& spec) {
  json metrics = json::object();
  for (const auto& [name, value] : summary.metrics) metrics[name] = number_to_json(value);
  json out{{"name", spec.name},
           {"status", summary.status},
           {"first_step", summary.first_step},
           {"step", summary.step},
           {"steps", summary.steps},
           {"seconds", summary.seconds},
           {"processes", spec.resources.devices},
           {"layout", layout_json(spec)},
           {"parameters", summary.parameters},
           {"metrics", std::move(metrics)},
           {"checkpoint", summary.checkpoint.empty() ? json() : json(summary.checkpoint)},
           {"target", json()}};
  if (summary.target)
    out["target"] = {{"metric", summary.target->metric},
                     {"step", summary.target->step},
                     {"value", number_to_json(summary.target->value)}};
  return out;
}

std::string summary_text(const LocalSummary& summary, const JobSpec& spec) {
  std::string text = summary_title(summary, spec) + "\n";
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<28}{}\n", name, value);
  };
  if (summary.parameters > 0) row("parameters", std::to_string(summary.parameters));
  for (const auto& [name, value] : summary.metrics) row(name, fmt::format("{:.5g}", value));
  if (summary.target)
    row("target", fmt::format("{} {:.5g} at step {}", summary.target->metric, summary.target->value,
                              summary.target->step));
  row("checkpoint", summary.checkpoint.empty() ? "none" : summary.checkpoint);
  return text;
}

}  // namespace podium
