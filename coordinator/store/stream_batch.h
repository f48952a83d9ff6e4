// The body of one POST of streams, parsed, on its way to the store.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"
#include "common/model/stream_chunk.h"
#include "coordinator/core/events/commands.h"
#include "coordinator/core/jobs/trials.h"

namespace podium {

// By which clock the lines of a batch were written, and the cluster's time.
struct WriterClock {
  Time now;
  Duration ahead{};  // of that clock

  // A time of that clock in the cluster's; nothing happens in the time to come.
  Time correct(Time told) const { return std::min(told - ahead, now); }
};

struct StreamBatch {
  NodeId node;  // whose agent sent it
  WriterClock clock;
  std::string body;
  std::vector<StreamChunk> chunks;           // borrow from body
  std::vector<CheckpointSaved> checkpoints;  // what the core must know of it
  std::vector<RungTold> rungs;               // and this
  std::vector<bool> on_disk;  // of each chunk of output: its bytes follow what was there and are on disk
};

// `body` as common/model/stream_chunk.h describes. Error: `invalid` for a malformed one.
Result<std::shared_ptr<StreamBatch>> read_streams(NodeId node, std::string body);

// What the core must know of the streams: of each attempt the newest checkpoint that a line tells of. It is
// committed before the lines are, so that no offset ever passes a checkpoint which the core could forget; a
// line that comes twice tells nothing new.
// `is_own`: whether a task was given to the node; what it says of others' tasks is left out.
std::vector<CheckpointSaved> checkpoints_in(const StreamBatch& streams,
                                            const std::function<bool(TaskId)>& is_own);

// Of the trials of sweeps, the first word in the streams on each rung that is watched: a metric told at its
// step or later. As with checkpoints.
using RungWatches = std::map<JobId, RungWatch>;
std::vector<RungTold> rungs_in(const StreamBatch& streams, const RungWatches& watches,
                               const std::function<bool(TaskId)>& is_own);

}  // namespace podium
