#include "coordinator/store/stream_batch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/model/worker_event.h"

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
  for (const StreamChunk& chunk : streams.chunks) {
    if (chunk.stream != StreamKind::events || !is_own(chunk.task)) continue;
    for (std::string_view rest = chunk.bytes; !rest.empty();) {
      const std::size_t size = std::min(rest.find('\n'), rest.size());
      look_for_checkpoint(rest.substr(0, size), chunk.task.attempt, newest);
      rest.remove_prefix(std::min(size + 1, rest.size()));
    }
  }
  std::vector<CheckpointSaved> saved;
  for (const auto& [attempt, step] : newest) saved.push_back({attempt, step});
  return saved;
}

}  // namespace podium
