// The store's one writing thread. Turns of the loop go first and are committed together; what programs log
// and streams follow, in pieces so small that no turn waits long behind them. A turn that the disk refuses is
// repeated until it is written, because the state in memory already contains it; meanwhile failure() returns
// the reason. A snapshot is serialised on a thread of its own and then written here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "coordinator/store/chunk_closer.h"
#include "coordinator/store/energy_rows.h"
#include "coordinator/store/event_log.h"
#include "coordinator/store/ingest.h"
#include "coordinator/store/ledger_marks.h"
#include "coordinator/store/ledger_rows.h"
#include "coordinator/store/projections.h"
#include "coordinator/store/pruner.h"
#include "coordinator/store/retention_rules.h"
#include "coordinator/store/run_writer.h"
#include "coordinator/store/store.h"
#include "coordinator/store/webhook_rows.h"

namespace podium {

class Store::Writer {
 public:
  Writer(const std::filesystem::path& home, Post post, const StoreOptions& options);
  ~Writer();

  ClusterRecord begin(const std::string& fresh);
  void note_clock_step(Time from, Time to, Duration step);
  Loaded load(const ClusterState& empty);
  void commit(Commit turn, std::function<void()> done);
  void change(std::shared_ptr<const RunChange> change, RunDone done);
  void ingest(std::shared_ptr<StreamBatch> streams, IngestDone done);
  bool wants_snapshot() const;
  std::optional<Error> failure() const;

 private:
  struct Turn {
    Commit commit;
    std::function<void()> done;
  };
  struct Batch {
    std::shared_ptr<StreamBatch> streams;
    IngestDone done;
  };

  struct Change {
    std::shared_ptr<const RunChange> change;
    RunDone done;
    Result<std::int64_t> result = 0;
  };

  struct Snapshot {
    std::int64_t seq = 0;  // of the last event that it includes
    std::string state;
  };

  void begin_snapshot(std::int64_t seq, std::shared_ptr<const ClusterState> state);
  void put_into_words(std::int64_t seq, const ClusterState& state);
  void no_snapshot(const std::string& why);
  void write_snapshot(const Snapshot& snapshot);
  void ask_again_after(std::size_t bytes);
  void work();
  void keep_house();
  void write_turns(std::deque<Turn> turns);
  void write_in_one_transaction(const std::deque<Turn>& turns);
  bool wait_for_the_disk(const SqliteError& error);
  std::int64_t write(const Event& event);
  void write_the_rest(const Commit& commit);
  std::vector<Change> some_changes();
  void put_back(std::vector<Change>& changes, std::size_t from);
  bool turns_wait() const;
  void write_some_changes();
  void write_some_streams();
  void refuse(std::deque<Batch> batches, const std::string& why);

  Post post_;
  Database database_;
  EventLog log_;
  Projections projections_;
  History history_;
  LedgerMarks ledger_;
  LedgerTotals ledger_totals_;
  EnergyRows energy_;
  WebhookRows webhooks_;
  Ingestor ingestor_;
  RunWriter runs_;
  RetentionWriter rules_;
  Pruner pruner_;
  ChunkCloser closer_;
  std::int64_t last_event_;  // that was written

  mutable std::mutex mutex_;  // guards the next seven
  std::condition_variable wake_;
  std::deque<Turn> turns_;
  std::deque<Change> changes_;
  std::deque<Batch> batches_;
  std::optional<Snapshot> snapshot_;  // to be written
  std::string failure_;               // why turns wait; "" while they do not
  bool stopping_ = false;
  // Used by the writing thread alone. House-keeping waits for the first turn, because load() uses the
  // database.
  std::chrono::steady_clock::time_point keep_house_at_ =
      std::chrono::steady_clock::now() + std::chrono::hours(24);  // until the first turn

  std::atomic<std::int64_t> events_since_snapshot_ = 0;
  std::atomic<std::int64_t> snapshot_every_;  // events
  std::atomic<bool> snapshot_begun_ = false;  // and not written
  std::future<void> snapshot_work_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
