// One POST of streams on its way from an agent to tables, logs and the live stream. It is parsed on a pool;
// the loop decides what the core must know of it, LogKeeper puts its output on disk, the store's thread
// writes its rows, and the loop answers the agent and tells the live stream. One of them has it at a time.
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
#include "coordinator/tracking/series.h"

namespace podium {

// By which clock the lines of a batch were written, and the cluster's time.
struct WriterClock {
  Time now;
  Duration ahead{};  // of that clock

  // A time of that clock in the cluster's; nothing happens in the time to come.
  Time correct(Time told) const { return std::min(told - ahead, now); }
};

// Jobs that streams have changed, with the new points of each metric: at most a few hundred, for the live
// stream. The tables have all of them.
using StreamNews = std::map<JobId, std::map<std::string, Series, std::less<>>>;

struct StreamBatch {
  NodeId node;  // whose agent sent it
  WriterClock clock;
  std::string body;
  std::vector<StreamChunk> chunks;  // borrow from body
  std::vector<Command> for_core;    // what the core must know of it

  // What has become of it. LogKeeper sets the first, the store's thread the others.
  std::vector<bool> on_disk;  // of each chunk of output: its bytes follow what was there and are on disk
  std::size_t taken = 0;      // chunks whose rows are written
  std::vector<StreamPosition> positions;  // for the agent
  std::vector<std::string> notes;         // for the agent's own log
  StreamNews news;
};

// `body` as common/model/stream_chunk.h describes. Error: `invalid` for a malformed one.
Result<std::shared_ptr<StreamBatch>> read_streams(NodeId node, std::string body);

// The newest checkpoint of each attempt that the streams name, for the core. It is committed before the rows,
// so that no offset ever passes a checkpoint that the core could forget; a line that comes twice changes
// nothing. `is_own` says whether a task was given to the node: lines of other tasks are left out.
std::vector<CheckpointSaved> checkpoints_in(const StreamBatch& streams,
                                            const std::function<bool(TaskId)>& is_own);

// For the trials of sweeps, the first value of the watched metric at the step of each watched rung or later.
// It is committed before the rows, too.
using RungWatches = std::map<JobId, RungWatch>;
std::vector<RungTold> rungs_in(const StreamBatch& streams, const RungWatches& watches,
                               const std::function<bool(TaskId)>& is_own);

}  // namespace podium
