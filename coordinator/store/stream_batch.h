// One POST of streams on its way from an agent to tables, logs and the live stream. A pool parses it; the
// loop passes the core what it must know; LogKeeper writes the output to disk; the store's thread writes the
// rows; the loop then answers the agent and feeds the live stream. Exactly one of them holds the batch at any
// time.
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

// The clock of the node that wrote a batch's lines, and the cluster's time.
struct WriterClock {
  Time now;
  Duration ahead{};  // of that clock

  // Converts a time of that clock to the cluster's time, at most now: nothing happens in the future.
  Time correct(Time told) const { return std::min(told - ahead, now); }
};

// For the live stream: the jobs that a batch changed, with the newest points of each metric, a few hundred at
// most. The tables have all points.
using StreamNews = std::map<JobId, std::map<std::string, Series, std::less<>>>;

struct StreamBatch {
  NodeId node;  // that sent it
  WriterClock clock;
  std::string body;
  std::vector<StreamChunk> chunks;  // views into body
  std::vector<Command> for_core;    // what the core must know of it

  // The results. LogKeeper sets on_disk; the store's thread sets the others.
  std::vector<bool> on_disk;              // by chunk of output: its bytes continue the file and are on disk
  std::size_t taken = 0;                  // chunks whose rows are written
  std::vector<StreamPosition> positions;  // for the agent
  std::vector<std::string> notes;         // for the agent's log, in the order of the chunks
  StreamNews news;
};

// `body` has the format of common/model/stream_chunk.h. Error: `invalid` where it is malformed.
Result<std::shared_ptr<StreamBatch>> read_streams(NodeId node, std::string body);

// The newest checkpoint of each attempt in the streams, for the core. The core's event is committed before
// the rows: otherwise a crash between the two could move an offset past a checkpoint that the core never
// learnt of. Reading a line twice changes nothing. `is_own` says whether the node was given a task; lines of
// other tasks are ignored.
std::vector<CheckpointSaved> checkpoints_in(const StreamBatch& streams,
                                            const std::function<bool(TaskId)>& is_own);

// For the trials of sweeps: the first value of the watched metric at or after the step of each watched rung.
// The core's event is committed before the rows, for the same reason.
using RungWatches = std::map<JobId, RungWatch>;
std::vector<RungTold> rungs_in(const StreamBatch& streams, const RungWatches& watches,
                               const std::function<bool(TaskId)>& is_own);

}  // namespace podium
