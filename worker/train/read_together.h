// How the ranks of a job read its text. After they have met, each reads all of it. On a slow disk or a busy
// node a rank may take hours longer than another, and nobody gives up on a rank that is alive: while any rank
// reads, all meet every second and tell how far they are and whether one was asked to stop. In the end all
// must have read the same text.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "worker/comm/communicator.h"
#include "worker/data/reading.h"
#include "worker/train/event_log.h"
#include "worker/train/task.h"

namespace podium {

struct ReadingPace {
  std::chrono::milliseconds meeting = std::chrono::seconds(1);     // how often all ranks meet
  std::chrono::milliseconds first_note = std::chrono::seconds(5);  // no note tells of a shorter reading
  std::chrono::milliseconds between_notes = std::chrono::minutes(1);
};

// Collective over `world`. Runs `read` on a thread of its own, which may be left behind (leave_process.h), so
// `read` must own what it uses. Returns when every rank has read; rank 0 notes the progress and what was
// noticed about the text. Throws what `read` throws, PeerLost if it failed on another rank, StopRequested on
// all ranks soon after `stop` was raised on one, and BadData on all ranks if they have not all read the same
// text.
TaskSource read_together(Communicator& world, EventLog& events, const std::atomic<bool>& stop,
                         std::function<TaskSource(Reading&)> read, const ReadingPace& pace = {});
}  // namespace podium
