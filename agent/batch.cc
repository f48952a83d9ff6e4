#include "agent/batch.h"

#include <algorithm>

#include "agent/process/file_tail.h"

namespace podium {
namespace {

// The next chunk of the stream from `offset` on; without bytes and without a gap before it there is nothing
// new.
StreamChunk next_chunk(TaskId id, const SupervisedTask& task, StreamKind kind, std::int64_t offset,
                       std::size_t room, std::string& bytes) {
  const auto path = task.folder->stream_path(kind);
  StreamChunk chunk{id, kind, offset, {}};
  const std::size_t limit = std::min(room, kChunkBytes);
  if (!is_output(kind)) {
    bytes = read_range(path, offset, limit);
    const bool grows = !task.record.exit || (kind == StreamKind::console && task.read);
    chunk.final = !grows && offset + std::ssize(bytes) >= task.folder->stream_size(kind);
    if (!chunk.final) keep_whole_lines(bytes, limit);
    // In a full chunk the line is too long; here there was only too little room for it.
    if (!chunk.final && limit < kChunkBytes && !bytes.ends_with('\n')) bytes.clear();
  } else {
    const DataRange data = next_data(path, offset);
    chunk.offset = data.begin;
    chunk.after_gap = data.begin > offset;
    bytes = read_range(path, data.begin, std::min(limit, static_cast<std::size_t>(data.end - data.begin)));
  }
  chunk.bytes = bytes;
  return chunk;
}

// Adds the task's news to the batch; false when the batch is full.
bool add_task(Batch& batch, std::size_t& room, TaskId id, const SupervisedTask& task) {
  for (std::size_t i = 0; i < kStreams.size(); ++i) {
    if (room == 0) return false;
    if (task.is_delivered(i)) continue;
    const std::int64_t offset = task.record.delivered[i];
    std::string bytes;
    const StreamChunk chunk = next_chunk(id, task, kStreams[i], offset, room, bytes);
    if (bytes.empty() && !chunk.after_gap) continue;
    append_chunk(batch.body, chunk);
    batch.sends.push_back({id, kStreams[i], offset});
    batch.last = id;
    room -= bytes.size();
  }
  return true;
}

}  // namespace

Batch next_batch(const std::map<TaskId, SupervisedTask>& tasks, TaskId after) {
  Batch batch;
  std::size_t room = kBatchBytes;
  const auto first = tasks.upper_bound(after);
  for (auto it = first; it != tasks.end(); ++it)
    if (!add_task(batch, room, it->first, it->second)) return batch;
  for (auto it = tasks.begin(); it != first; ++it)
    if (!add_task(batch, room, it->first, it->second)) return batch;
  return batch;
}

std::int64_t undelivered_bytes(const SupervisedTask& task) {
  std::int64_t bytes = 0;
  if (!task.folder || task.settled) return bytes;
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    bytes += std::max<std::int64_t>(0, task.folder->stream_size(kStreams[i]) - task.record.delivered[i]);
  return bytes;
}

}  // namespace podium
