// Chooses the part of the tasks' files to send next: bounded, with tasks in turn and events before output.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "agent/supervisor.h"

namespace podium {

inline constexpr std::size_t kBatchBytes = std::size_t{1} << 20;  // of file content in one request
inline constexpr std::size_t kChunkBytes = kLongestEventLine;     // of one file in one request: any line fits

struct Batch {
  std::string body;                   // as common/model/stream_chunk.h says
  std::vector<StreamPosition> sends;  // where each stream in the body begins; `next`: the offset
  TaskId last;                        // the task to go on after
};

// Begins with the task after `after`. An empty body: nothing new. Events are sent in whole lines, except a
// line that is too long and the last line of an ended task. Output that is no longer on disk is skipped.
Batch next_batch(const std::map<TaskId, SupervisedTask>& tasks, TaskId after);

// Bytes on disk that the coordinator has not acknowledged.
std::int64_t undelivered_bytes(const SupervisedTask& task);

}  // namespace podium
