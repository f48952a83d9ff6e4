// The store's one writing thread. Turns of the loop go first and are committed together; streams follow in
// pieces small enough that a turn never waits long behind them. A snapshot is put into words on a thread of
// its own, and written when it is done.
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

#include "coordinator/store/ingest.h"
#include "coordinator/store/projections.h"
#include "coordinator/store/store.h"

namespace podium {

class Store::Writer {
 public:
  Writer(const std::filesystem::path& home, Post post);
  ~Writer();

  Loaded load(const ClusterState& empty);
  void commit(Commit turn, std::function<void()> done);
  void ingest(std::string body, std::function<void(Result<Ingested>)> done);
  bool wants_snapshot() const;

 private:
  struct Turn {
    Commit commit;
    std::function<void()> done;
  };
  struct Batch {
    std::string body;
    std::vector<StreamChunk> chunks;  // borrow from body
    std::size_t at = 0;               // the chunk to go on with
    Ingested answer;
    NewsDesk news;
    std::function<void(Result<Ingested>)> done;
  };

  struct Snapshot {
    std::int64_t seq = 0;  // of the last event it has
    std::string state;
  };

  void begin_snapshot(std::shared_ptr<const ClusterState> state);
  void write_snapshot(const Snapshot& snapshot);
  void ask_again_after(std::size_t bytes);
  void work();
  void write_turns(std::deque<Turn> turns);
  void write(const Commit& commit);
  void write_some_streams();
  bool advance(Batch& batch, std::size_t& budget);
  void refuse(std::deque<std::unique_ptr<Batch>> batches, const std::string& why);

  Post post_;
  Database database_;
  Projections projections_;
  History history_;
  Ingestor ingestor_;
  Statement insert_event_, last_event_, insert_snapshot_, drop_snapshots_;

  std::mutex mutex_;  // guards the next six
  std::condition_variable wake_;
  std::deque<Turn> turns_;
  std::deque<std::unique_ptr<Batch>> batches_;
  std::size_t queued_bytes_ = 0;
  std::optional<Snapshot> snapshot_;  // to be written
  bool stopping_ = false;

  std::atomic<std::int64_t> events_since_snapshot_ = 0;
  std::atomic<std::int64_t> snapshot_every_;  // events
  std::atomic<bool> snapshot_begun_ = false;  // and not written
  std::future<void> snapshot_work_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
