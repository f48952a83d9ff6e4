#include "agent/batch.h"

#include <algorithm>

#include "agent/process/file_tail.h"

namespace podium {
namespace {

// Adds the task's news to the batch; false when the batch is full.
bool add_task(Batch& batch, std::size_t& room, TaskId id, const Task& task) {
  for (std::size_t i = 0; i < kStreams.size(); ++i) {
    if (room == 0) return false;
    if (task.is_delivered(i)) continue;
    const std::int64_t offset = task.record.delivered[i];
    const std::size_t limit = std::min(room, kChunkBytes);
    std::string bytes = read_range(task.folder->stream_path(kStreams[i]), offset, limit);
    if (kStreams[i] == StreamKind::events && !task.record.exit) keep_whole_lines(bytes, limit);
    if (bytes.empty()) continue;
    append_chunk(batch.body, {id, kStreams[i], offset, bytes});
    batch.sends.push_back({id, kStreams[i], offset});
    batch.last = id;
    room -= bytes.size();
  }
  return true;
}

}  // namespace

Batch next_batch(const std::map<TaskId, Task>& tasks, TaskId after) {
  Batch batch;
  std::size_t room = kBatchBytes;
  const auto first = tasks.upper_bound(after);
  for (auto it = first; it != tasks.end(); ++it)
    if (!add_task(batch, room, it->first, it->second)) return batch;
  for (auto it = tasks.begin(); it != first; ++it)
    if (!add_task(batch, room, it->first, it->second)) return batch;
  return batch;
}

std::int64_t undelivered_bytes(const Task& task) {
  std::int64_t bytes = 0;
  if (!task.folder) return bytes;
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    bytes += std::max<std::int64_t>(0, task.folder->stream_size(kStreams[i]) - task.record.delivered[i]);
  return bytes;
}

}  // namespace podium
