// The table of events and the snapshots that shorten its replay. The two newest snapshots stay, with every
// event after the older one: a start that finds the newest damaged goes on from the one before. Events before
// that are read by nothing (what people see of them is in the table `history`) and are deleted in small
// pieces, but never the newest, because the next one's number follows from it.
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

  // Inside the caller's transaction; the number that the event got.
  std::int64_t append(const Event& event);

  // The state after event `seq`, in a transaction of its own.
  void write_snapshot(std::int64_t seq, const std::string& state);

  // Deletes some of what nothing reads; false when nothing was left.
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
