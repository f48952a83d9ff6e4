// Chooses what to send next of the tasks' files: bounded, every task in turn, events before output.
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

// Begins with the task after `after`. An empty body: nothing new. Events go in whole lines, but for one that
// is too long and the last of a task that has ended. Output that is no longer on disk is passed over.
Batch next_batch(const std::map<TaskId, SupervisedTask>& tasks, TaskId after);

// Bytes on disk that the coordinator does not have.
std::int64_t undelivered_bytes(const SupervisedTask& task);

}  // namespace podium
