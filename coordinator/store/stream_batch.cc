#include "coordinator/store/stream_batch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/model/worker_event.h"
#include "coordinator/store/event_lines.h"
#include "coordinator/store/rungs.h"

namespace podium {
namespace {

using Newest = std::map<AttemptId, std::int64_t>;

// Metrics come by the thousand and say nothing of checkpoints: only a line with the word is parsed.
void look_for_checkpoint(std::string_view line, AttemptId attempt, Newest& newest) {
  if (line.find("\"checkpoint\"") == std::string_view::npos) return;
  try {
    const WorkerEvent event = worker_event_from_json(nlohmann::json::parse(line));
    const auto* checkpoint = std::get_if<CheckpointEvent>(&event.body);
    if (!checkpoint) return;
    auto& step = newest.emplace(attempt, checkpoint->step).first->second;
    step = std::max(step, checkpoint->step);
  } catch (const std::exception&) {  // malformed: ingest counts it and says so
  }
}

// body(line, task) for each line of the events that the node may tell of.
template <class Body>
void each_line(const StreamBatch& streams, const std::function<bool(TaskId)>& is_own, const Body& body) {
  for (const StreamChunk& chunk : streams.chunks) {
    if (is_output(chunk.stream) || !is_own(chunk.task)) continue;
    for (std::string_view rest = chunk.bytes; !rest.empty();) {
      const std::size_t size = std::min(rest.find('\n'), rest.size());
      body(rest.substr(0, size), chunk.task);
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  }
}

// The value of a metric that a line tells, and its step.
std::optional<std::pair<std::int64_t, double>> metric_in(std::string_view line, const std::string& metric) {
  const bool as_it_is = line.find('\\') == std::string_view::npos;
  if (as_it_is && line.find(metric) == std::string_view::npos) return std::nullopt;
  MetricsLine plain;
  if (parse_metrics_line(line, plain)) {
    for (const auto& [key, value] : plain.values)
      if (key == metric) return std::pair(plain.step, value);
    return std::nullopt;
  }
  try {
    const WorkerEvent event = worker_event_from_json(nlohmann::json::parse(line));
    const auto* metrics = std::get_if<MetricsEvent>(&event.body);
    if (!metrics) return std::nullopt;
    for (const auto& [key, value] : metrics->values)
      if (key == metric) return std::pair(metrics->step, value);
  } catch (const std::exception&) {  // malformed: ingest counts it and says so
  }
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<StreamBatch>> read_streams(NodeId node, std::string body) {
  auto streams = std::make_shared<StreamBatch>();
  streams->node = std::move(node);
  streams->body = std::move(body);
  auto chunks = parse_chunks(streams->body);
  if (!chunks) return chunks.errors();
  streams->chunks = std::move(chunks).value();
  streams->on_disk.resize(streams->chunks.size());
  return streams;
}

std::vector<CheckpointSaved> checkpoints_in(const StreamBatch& streams,
                                            const std::function<bool(TaskId)>& is_own) {
  Newest newest;
  each_line(streams, is_own, [&newest](std::string_view line, TaskId task) {
    look_for_checkpoint(line, task.attempt, newest);
  });
  std::vector<CheckpointSaved> saved;
  for (const auto& [attempt, step] : newest) saved.push_back({attempt, step});
  return saved;
}

std::vector<RungTold> rungs_in(const StreamBatch& streams, const RungWatches& watches,
                               const std::function<bool(TaskId)>& is_own) {
  const auto is_watched = [&](TaskId task) { return watches.contains(task.attempt.job) && is_own(task); };
  std::vector<RungTold> told;
  RungWatches open = watches;
  each_line(streams, is_watched, [&](std::string_view line, TaskId task) {
    RungWatch& watch = open.at(task.attempt.job);
    const auto value = watch.steps.empty() ? std::nullopt : metric_in(line, watch.metric);
    if (!value) return;
    look_at_rungs(watch, task.attempt.job, value->first, value->second, told);
  });
  return told;
}

}  // namespace podium
