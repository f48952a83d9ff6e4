// The store's one writing thread. Turns of the loop go first and are committed together; streams follow in
// pieces small enough that a turn never waits long behind them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
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

  void took_snapshot(std::size_t bytes);
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
  Statement insert_event_, insert_snapshot_, drop_snapshots_;

  std::mutex mutex_;  // guards the next five
  std::condition_variable wake_;
  std::deque<Turn> turns_;
  std::deque<std::unique_ptr<Batch>> batches_;
  std::size_t queued_bytes_ = 0;
  bool stopping_ = false;

  std::atomic<std::int64_t> events_since_snapshot_ = 0;
  std::int64_t snapshot_every_;  // events; of the thread that commits
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace podium
