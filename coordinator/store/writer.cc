#include "coordinator/store/writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/check.h"
#include "coordinator/store/migrations.h"

namespace podium {
namespace {

constexpr int kCacheKib = 2048;
constexpr std::size_t kPiece = 256 << 10;      // bytes of streams in one transaction
constexpr std::size_t kMostQueued = 32 << 20;  // bytes of streams waiting
// A snapshot after so many events, and after one event for so many of its bytes: then it costs less than the
// events themselves, however large the state is.
constexpr std::int64_t kSnapshotEvery = 5000;
constexpr std::int64_t kSnapshotBytesAnEvent = 100;

Database open_database(const std::filesystem::path& home) {
  std::filesystem::create_directories(home);
  Database database(home / "podium.db", Access::write, kCacheKib);
  migrate(database);
  return database;
}

}  // namespace

Store::Writer::Writer(const std::filesystem::path& home, Post post)
    : post_(std::move(post)),
      database_(open_database(home)),
      projections_(database_),
      history_(database_),
      ingestor_(database_, home),
      insert_event_(database_, "INSERT INTO events (time_ms, type, body) VALUES (?1, ?2, ?3)"),
      last_event_(database_, "SELECT coalesce(max(seq), 0) FROM events"),
      insert_snapshot_(database_, "INSERT OR REPLACE INTO snapshots (seq, state) VALUES (?1, ?2)"),
      drop_snapshots_(database_, "DELETE FROM snapshots WHERE seq < (SELECT max(seq) FROM snapshots)"),
      snapshot_every_(kSnapshotEvery),
      thread_([this] { work(); }) {}

Store::Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Store::Writer::commit(Commit turn, std::function<void()> done) {
  if (turn.snapshot) {
    events_since_snapshot_ = 0;
    snapshot_begun_ = true;
  }
  {
    const std::lock_guard lock(mutex_);
    turns_.push_back({std::move(turn), std::move(done)});
  }
  wake_.notify_one();
}

void Store::Writer::ingest(std::string body, std::function<void(Result<Ingested>)> done) {
  auto batch = std::make_unique<Batch>();
  batch->body = std::move(body);
  auto chunks = parse_chunks(batch->body);
  if (!chunks) return post_([done = std::move(done), errors = chunks.errors()] { done(errors); });
  batch->chunks = std::move(chunks).value();
  batch->done = std::move(done);
  std::unique_lock lock(mutex_);
  if (queued_bytes_ + batch->body.size() > kMostQueued) {
    lock.unlock();
    const Error full{ErrorCode::unavailable,
                     "too many streams are waiting to be written; send this again later", ""};
    return post_([done = std::move(batch->done), full] { done(full); });
  }
  queued_bytes_ += batch->body.size();
  batches_.push_back(std::move(batch));
  lock.unlock();
  wake_.notify_one();
}

bool Store::Writer::wants_snapshot() const {
  return events_since_snapshot_ >= snapshot_every_ && !snapshot_begun_;
}

void Store::Writer::begin_snapshot(std::shared_ptr<const ClusterState> state) {
  std::int64_t seq = 0;
  for (last_event_.start(); last_event_.next();) seq = last_event_.integer(0);
  snapshot_work_ = std::async(std::launch::async, [this, seq, state = std::move(state)] {
    Snapshot snapshot{seq, to_json(*state).dump()};
    {
      const std::lock_guard lock(mutex_);
      snapshot_ = std::move(snapshot);
    }
    wake_.notify_one();
  });
}

void Store::Writer::write_snapshot(const Snapshot& snapshot) {
  try {
    Transaction transaction(database_);
    insert_snapshot_.run(snapshot.seq, snapshot.state);
    drop_snapshots_.run();
    transaction.commit();
  } catch (const SqliteError& error) {
    PODIUM_CHECK(false, std::string("a snapshot could not be written: ") + error.what());
  }
  ask_again_after(snapshot.state.size());
  snapshot_begun_ = false;
}

void Store::Writer::ask_again_after(std::size_t bytes) {
  snapshot_every_ = std::max(kSnapshotEvery, static_cast<std::int64_t>(bytes) / kSnapshotBytesAnEvent);
}

void Store::Writer::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !turns_.empty() || !batches_.empty() || snapshot_; });
    const bool idle = turns_.empty() && batches_.empty() && !snapshot_;
    std::deque<Turn> turns = std::exchange(turns_, {});
    const std::optional<Snapshot> snapshot = std::exchange(snapshot_, std::nullopt);
    lock.unlock();
    if (idle && !snapshot_begun_) return;
    if (idle) {
      snapshot_work_.wait();
    } else if (!turns.empty() || snapshot) {
      if (!turns.empty()) write_turns(std::move(turns));
      if (snapshot) write_snapshot(*snapshot);
    } else {
      write_some_streams();
    }
  }
}

void Store::Writer::write_turns(std::deque<Turn> turns) {
  const bool anything = std::ranges::any_of(turns, [](const Turn& turn) {
    const Commit& c = turn.commit;
    return c.experiment || !c.secrets.empty() || c.snapshot || std::ranges::any_of(c.events, is_durable);
  });
  try {
    if (anything) {
      Transaction transaction(database_);
      for (const Turn& turn : turns) write(turn.commit);
      transaction.commit();
    }
  } catch (const SqliteError& error) {
    PODIUM_CHECK(
        false, std::string("a turn could not be committed, and the state in memory is ahead of the disk: ") +
                   error.what());
  }
  for (Turn& turn : turns) post_(std::move(turn.done));
}

void Store::Writer::write(const Commit& commit) {
  for (const Event& event : commit.events) {
    if (!is_durable(event)) continue;
    insert_event_.run(to_millis(event.at), type_of(event), to_json(event).dump());
    ++events_since_snapshot_;
    projections_.take(event);
    history_.add(event);
  }
  if (commit.experiment) projections_.take(*commit.experiment);
  for (const AttemptSecret& secret : commit.secrets) projections_.take(secret);
  if (commit.snapshot) begin_snapshot(commit.snapshot);
}

// One transaction over as many batches as a piece holds; those that end in it are answered once it is on
// disk.
void Store::Writer::write_some_streams() {
  std::deque<std::unique_ptr<Batch>> finished;
  try {
    Transaction transaction(database_);
    for (std::size_t budget = kPiece; budget > 0;) {
      std::unique_lock lock(mutex_);
      if (batches_.empty()) break;
      Batch& batch = *batches_.front();
      lock.unlock();
      if (!advance(batch, budget)) continue;
      lock.lock();
      queued_bytes_ -= batch.body.size();
      finished.push_back(std::move(batches_.front()));
      batches_.pop_front();
    }
    transaction.commit();
  } catch (const std::exception& error) {  // a full disk, mostly; SQLite's or a log file's
    ingestor_.forget();
    return refuse(std::move(finished), error.what());
  }
  for (auto& batch : finished) {
    batch->answer.news = std::move(batch->news).publish();
    post_([done = std::move(batch->done), answer = std::move(batch->answer)] { done(answer); });
  }
}

// True when the batch is done.
bool Store::Writer::advance(Batch& batch, std::size_t& budget) {
  while (batch.at < batch.chunks.size() && budget > 0) {
    const StreamChunk& chunk = batch.chunks[batch.at];
    const Ingestor::Taken taken = ingestor_.take(chunk, budget, batch.news);
    budget -=
        std::min(budget, static_cast<std::size_t>(taken.bytes) + 1024);  // the work that every chunk costs
    if (taken.more) continue;
    auto& positions = batch.answer.positions;
    const auto same = std::ranges::find_if(
        positions, [&](const StreamPosition& p) { return p.task == chunk.task && p.stream == chunk.stream; });
    if (same != positions.end())
      same->next = taken.next;
    else
      positions.push_back({chunk.task, chunk.stream, taken.next});
    ++batch.at;
  }
  return batch.at == batch.chunks.size();
}

// These and all that wait. The agents keep what was not accepted and send it again.
void Store::Writer::refuse(std::deque<std::unique_ptr<Batch>> batches, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& batch : batches_) {
      queued_bytes_ -= batch->body.size();
      batches.push_back(std::move(batch));
    }
    batches_.clear();
  }
  const Error error{ErrorCode::unavailable, "streams could not be written: " + why, ""};
  for (auto& batch : batches) post_([done = std::move(batch->done), error] { done(error); });
}

Loaded Store::Writer::load(const ClusterState& empty) {
  Loaded loaded{empty, {}};
  std::int64_t seq = 0;
  Statement snapshot(database_, "SELECT seq, state FROM snapshots ORDER BY seq DESC LIMIT 1");
  for (snapshot.start(); snapshot.next();) {
    seq = snapshot.integer(0);
    ask_again_after(snapshot.text(1).size());
    loaded.state = cluster_state_from_json(nlohmann::json::parse(snapshot.text(1)), empty);
  }
  Statement events(database_, "SELECT body FROM events WHERE seq > ?1 ORDER BY seq");
  for (events.start(seq); events.next(); ++events_since_snapshot_)
    apply(loaded.state, event_from_json(nlohmann::json::parse(events.text(0))));
  Statement secrets(database_, "SELECT job, number, secret FROM attempts WHERE ended_ms IS NULL");
  for (secrets.start(); secrets.next();)
    loaded.secrets.push_back({{{secrets.integer(0)}, secrets.small(1)}, secrets.text(2)});
  return loaded;
}

}  // namespace podium
