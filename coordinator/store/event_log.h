// The table of events, and the snapshots that shorten its replay. The two newest snapshots are kept, with all
// events after the older one, so that a start that finds the newest snapshot damaged uses the one before.
// Older events are not read any more (people read the table `history`) and are deleted in small pieces. The
// newest event is never deleted, because the next number follows from it.
#pragma once

#include "coordinator/core/events/events.h"
#include "coordinator/core/state/state.h"
#include "coordinator/store/sqlite.h"

namespace podium {

class EventLog {
 public:
  explicit EventLog(Database& database);

  std::int64_t last();  // the number of the newest event, 0 without one
  Time newest();        // when it happened, by the cluster's clock; Time{} without one

  // Runs in the caller's transaction; returns the event's number.
  std::int64_t append(const Event& event);

  // The state after event `seq`, in a transaction of its own.
  void write_snapshot(std::int64_t seq, const std::string& state);

  // Deletes some events that are not read any more; false where none were left.
  bool prune();

  struct Replayed {
    ClusterState state;
    std::size_t snapshot_bytes = 0;
    std::int64_t events = 0;  // since the snapshot
  };
  // Throws std::runtime_error naming the row that is damaged or missing, and what to do.
  Replayed replay(const ClusterState& empty);

 private:
  struct Start {
    std::int64_t seq = 0;
    std::size_t bytes = 0;
    ClusterState state;
  };
  Start newest_whole_snapshot(const ClusterState& empty);

  Database& database_;
  Statement insert_event_, insert_snapshot_, drop_snapshots_, drop_events_;
};

}  // namespace podium
