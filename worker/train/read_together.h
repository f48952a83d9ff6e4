// How the ranks of a job read its text: each all of it, after they have met. Ranks may be hours apart, on a
// slow disk or a busy node, and nobody gives up on one that is alive: while any of them reads, all meet every
// second to tell how far they are and whether one was asked to stop. Afterwards all must have read the same.
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
  std::chrono::milliseconds first_note = std::chrono::seconds(5);  // a shorter reading is not spoken of
  std::chrono::milliseconds between_notes = std::chrono::minutes(1);
};

// Collective over `world`. Runs `read` on a thread of its own, where it may be left behind: it must own what
// it uses. Returns when every rank has read; rank 0 notes the progress and what was noticed about the text.
// Throws what `read` throws, PeerLost where another rank's failed, StopRequested on all ranks soon after
// `stop` was raised on one, and BadData on all ranks where some have read other text than others.
TaskSource read_together(Communicator& world, EventLog& events, const std::atomic<bool>& stop,
                         std::function<TaskSource(Reading&)> read, const ReadingPace& pace = {});

// Ends the process as exit(code) does, but where a thread of read_together was left behind, which may still
// use what the end destroys: then without destroying anything.
[[noreturn]] void leave_process(int code);

}  // namespace podium
