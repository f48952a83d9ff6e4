#include "coordinator/store/writer.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.h"
#include "common/model/codec.h"
#include "coordinator/store/migrations.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

using namespace std::chrono_literals;

constexpr int kWriterCacheKib = 2048;
constexpr std::size_t kPiece = 512 << 10;  // bytes of streams in one transaction
constexpr std::size_t kChangesAtOnce = 2000;
constexpr std::size_t kChangedAtOnce = 4 << 20;  // bytes
constexpr auto kLongestChanges = 20ms;           // of one transaction
constexpr auto kChangesBeforeTurn = 2ms;         // likewise, where turns wait
constexpr int kLivePoints = 200;                 // of one metric in one batch
// A snapshot after so many events, and after one event for so many of its bytes: then it costs less than the
// events themselves, however large the state is.
constexpr std::int64_t kSnapshotEvery = 5000;
constexpr std::int64_t kSnapshotBytesAnEvent = 100;
constexpr auto kTryAgainAfter = 500ms;
constexpr auto kKeepHouseEvery = 60s;

Database open_database(const std::filesystem::path& home) {
  std::filesystem::create_directories(home);
  open_file(home / "podium.db", O_RDWR | O_CREAT, 0600);  // it holds the attempts' secrets
  std::filesystem::permissions(home / "podium.db",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Database database(home / "podium.db", Access::write, kWriterCacheKib);
  migrate(database);
  return database;
}

[[noreturn]] void give_up(const std::exception& error) {
  spdlog::critical(
      "{}. What the coordinator decided last cannot be written; it ends, and goes on from what is "
      "on disk when it is started again. If that fails too, restore a backup of its home",
      error.what());
  spdlog::default_logger()->flush();
  std::_Exit(1);
}

// Whether the same statement may succeed later: when there is room again, or the disk answers again.
bool may_pass(const SqliteError& error) {
  static constexpr std::array kPassing{SQLITE_FULL,   SQLITE_IOERR,    SQLITE_READONLY, SQLITE_BUSY,
                                       SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_NOMEM,    SQLITE_PERM};
  return std::ranges::find(kPassing, error.code() & 0xff) != kPassing.end();
}

}  // namespace

Store::Writer::Writer(const std::filesystem::path& home, Post post, const StoreOptions& options)
    : post_(std::move(post)),
      database_(open_database(home)),
      log_(database_),
      projections_(database_),
      history_(database_),
      ledger_(database_),
      ledger_totals_(database_),
      energy_(database_),
      webhooks_(database_, options.webhooks),
      ingestor_(database_, webhooks_),
      runs_(database_, ingestor_.series(), ingestor_.milestones()),
      rules_(database_),
      pruner_(database_, options.retention),
      closer_(database_),
      last_event_(log_.last()),
      snapshot_every_(kSnapshotEvery),
      thread_([this] { work(); }) {}

Store::Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
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

void Store::Writer::change(std::shared_ptr<const RunChange> change, RunDone done) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back({std::move(change), std::move(done)});
  }
  wake_.notify_one();
}

void Store::Writer::ingest(std::shared_ptr<StreamBatch> streams, IngestDone done) {
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back({std::move(streams), std::move(done)});
  }
  wake_.notify_one();
}

bool Store::Writer::wants_snapshot() const {
  return events_since_snapshot_ >= snapshot_every_ && !snapshot_begun_;
}

std::optional<Error> Store::Writer::failure() const {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) return std::nullopt;
  return Error{ErrorCode::unavailable, failure_, ""};
}

void Store::Writer::begin_snapshot(std::int64_t seq, std::shared_ptr<const ClusterState> state) {
  try {
    snapshot_work_ = std::async(std::launch::async,
                                [this, seq, state = std::move(state)] { put_into_words(seq, *state); });
  } catch (const std::system_error& error) {
    no_snapshot(error.what());
  }
}

// On a thread of its own.
void Store::Writer::put_into_words(std::int64_t seq, const ClusterState& state) {
  try {
    Snapshot snapshot{seq, dump(to_json(state))};
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
  } catch (const std::exception& error) {
    no_snapshot(error.what());
  }
  wake_.notify_one();
}

// The log alone says everything; the next snapshot is asked for as ever.
void Store::Writer::no_snapshot(const std::string& why) {
  spdlog::error("no snapshot of the state could be written, so the next start replays more events: {}", why);
  snapshot_begun_ = false;
}

void Store::Writer::write_snapshot(const Snapshot& snapshot) {
  try {
    log_.write_snapshot(snapshot.seq, snapshot.state);
  } catch (const std::exception& error) {
    return no_snapshot(error.what());
  }
  ask_again_after(snapshot.state.size());
  snapshot_begun_ = false;
  keep_house_at_ = steady_clock::now();
}

void Store::Writer::ask_again_after(std::size_t bytes) {
  snapshot_every_ = std::max(kSnapshotEvery, static_cast<std::int64_t>(bytes) / kSnapshotBytesAnEvent);
}

void Store::Writer::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    const bool woken = wake_.wait_until(lock, keep_house_at_, [this] {
      return stopping_ || !turns_.empty() || !changes_.empty() || !batches_.empty() || snapshot_;
    });
    const bool idle = turns_.empty() && changes_.empty() && batches_.empty() && !snapshot_;
    std::deque<Turn> turns = std::exchange(turns_, {});
    const std::optional<Snapshot> snapshot = std::exchange(snapshot_, std::nullopt);
    lock.unlock();
    if (!woken) {
      keep_house();
    } else if (idle) {
      if (!snapshot_begun_) return;
      snapshot_work_.wait();
    } else if (!turns.empty() || snapshot) {
      if (!turns.empty()) write_turns(std::move(turns));
      if (snapshot) write_snapshot(*snapshot);
    } else {
      write_some_changes();
      write_some_streams();
    }
  }
}

// Small pieces of work that nobody waits for, while there is nothing else to do.
void Store::Writer::keep_house() {
  bool more = false;
  try {
    more = log_.prune() || pruner_.prune(log_.newest()) || energy_.thin(log_.newest()) ||
           ledger_totals_.settle() || closer_.walk_on();
  } catch (const std::exception& error) {
    spdlog::warn("deleting what is no longer kept, adding up ledgers or closing chunks failed: {}",
                 error.what());
  }
  keep_house_at_ = steady_clock::now();
  if (!more) keep_house_at_ += kKeepHouseEvery;
}

void Store::Writer::write_turns(std::deque<Turn> turns) {
  const bool anything = std::ranges::any_of(turns, [](const Turn& turn) {
    const Commit& c = turn.commit;
    return c.experiment || !c.secrets.empty() || c.snapshot || !c.waits.empty() || !c.energy.empty() ||
           !c.retention.empty() || !c.delivered.empty() || std::ranges::any_of(c.events, is_durable);
  });
  for (bool written = !anything; !written;) {
    try {
      write_in_one_transaction(turns);
      written = true;
    } catch (const SqliteError& error) {
      if (!may_pass(error)) give_up(error);
      if (wait_for_the_disk(error)) continue;
      snapshot_begun_ = false;
      return;
    } catch (const std::exception& error) {
      give_up(error);
    }
  }
  keep_house_at_ = std::min(keep_house_at_, steady_clock::now() + kKeepHouseEvery);
  if (std::ranges::any_of(turns, [](const Turn& turn) { return !turn.commit.retention.empty(); })) {
    pruner_.rules_changed();
    keep_house_at_ = steady_clock::now();
  }
  for (Turn& turn : turns) post_(std::move(turn.done));
}

void Store::Writer::write_in_one_transaction(const std::deque<Turn>& turns) {
  std::int64_t last = last_event_, events = 0, snapshot_seq = 0;
  const Turn* with_snapshot = nullptr;
  Transaction transaction(database_);
  for (const Turn& turn : turns) {
    for (const Event& event : turn.commit.events) {
      if (!is_durable(event)) continue;
      last = write(event);
      ++events;
    }
    write_the_rest(turn.commit);
    if (!turn.commit.snapshot) continue;
    with_snapshot = &turn;
    snapshot_seq = last;
  }
  webhooks_.trim();
  transaction.commit();
  last_event_ = last;
  events_since_snapshot_ += events;
  if (with_snapshot) begin_snapshot(snapshot_seq, with_snapshot->commit.snapshot);
  const std::lock_guard lock(mutex_);
  if (!std::exchange(failure_, {}).empty()) spdlog::info("the disk takes what is written again");
}

// False when there is no more time to wait.
bool Store::Writer::wait_for_the_disk(const SqliteError& error) {
  std::unique_lock lock(mutex_);
  const std::string why =
      std::string("the coordinator cannot write to its disk, and takes nothing new until it can: ") +
      error.what() + "; make room on the disk of its home, or mend it";
  if (failure_ != why) spdlog::error("{}", why);
  failure_ = why;
  const bool stop = wake_.wait_for(lock, kTryAgainAfter, [this] { return stopping_; });
  if (stop) spdlog::error("stopping with changes that could not be written; none of them was acknowledged");
  return !stop;
}

// Returns its number.
std::int64_t Store::Writer::write(const Event& event) {
  const std::int64_t seq = log_.append(event);
  projections_.take(event);
  history_.add(event);
  ledger_.take(event);
  webhooks_.take(event);
  return seq;
}

// After the events that created what it belongs to.
void Store::Writer::write_the_rest(const Commit& commit) {
  if (commit.experiment) projections_.take(*commit.experiment);
  for (const Event& event : commit.events)
    if (const auto* tracked = std::get_if<RunTracked>(&event.body); tracked && commit.run)
      runs_.begin(tracked->job, *commit.run);
  for (const AttemptSecret& secret : commit.secrets) projections_.take(secret);
  for (const WaitMark& wait : commit.waits) ledger_.take(wait);
  for (const DrawnEnergy& drawn : commit.energy) energy_.add(drawn);
  for (const RetentionChange& change : commit.retention) rules_.take(change);
  webhooks_.remove(commit.delivered);
}

// None while a turn waits, which was there before a change that it may have made the job of.
std::vector<Store::Writer::Change> Store::Writer::some_changes() {
  std::vector<Change> some;
  const std::lock_guard lock(mutex_);
  if (!turns_.empty()) return some;
  for (std::size_t bytes = 0; !changes_.empty() && some.size() < kChangesAtOnce && bytes < kChangedAtOnce;) {
    bytes += size_of(*changes_.front().change);
    some.push_back(std::move(changes_.front()));
    changes_.pop_front();
  }
  return some;
}

// Those from this place on go first the next time.
void Store::Writer::put_back(std::vector<Change>& changes, std::size_t from) {
  if (from == changes.size()) return;
  const auto first = changes.begin() + static_cast<std::ptrdiff_t>(from);
  const std::lock_guard lock(mutex_);
  changes_.insert(changes_.begin(), std::make_move_iterator(first), std::make_move_iterator(changes.end()));
  changes.erase(first, changes.end());
}

bool Store::Writer::turns_wait() const {
  const std::lock_guard lock(mutex_);
  return !turns_.empty();
}

// One transaction; each is answered for itself once it is on disk. Where it fails, whoever logs repeats it.
void Store::Writer::write_some_changes() {
  auto changes = std::make_shared<std::vector<Change>>(some_changes());
  if (changes->empty()) return;
  try {
    Transaction transaction(database_);
    const steady_clock::time_point begin = steady_clock::now();
    std::size_t taken = 0;
    for (bool more = true; more; more = more && taken < changes->size()) {
      Change& change = (*changes)[taken++];
      change.result = runs_.take(*change.change);
      const auto took = steady_clock::now() - begin;
      more = !runs_.is_full() && took < kLongestChanges && (took < kChangesBeforeTurn || !turns_wait());
    }
    put_back(*changes, taken);
    runs_.write();
    transaction.commit();
  } catch (const std::exception& error) {  // a full disk, mostly
    runs_.forget();
    ingestor_.forget();
    for (Change& change : *changes)
      change.result =
          Error{ErrorCode::unavailable, std::string("it could not be written: ") + error.what(), ""};
  }
  post_([changes] {
    for (const Change& change : *changes) change.done(change.result);
  });
}

// One transaction over as many batches as a piece holds; those that end in it are answered once it is on
// disk.
void Store::Writer::write_some_streams() {
  std::deque<Batch> finished;
  {
    const std::lock_guard lock(mutex_);
    if (batches_.empty()) return;
  }
  try {
    Transaction transaction(database_);
    for (std::size_t budget = kPiece; budget > 0;) {
      std::unique_lock lock(mutex_);
      // A turn that came meanwhile goes first: a batch behind it may hold what it tells the core.
      if (batches_.empty() || !turns_.empty()) break;
      StreamBatch& streams = *batches_.front().streams;
      lock.unlock();
      if (!ingestor_.take(streams, budget)) continue;
      lock.lock();
      finished.push_back(std::move(batches_.front()));
      batches_.pop_front();
    }
    webhooks_.trim();
    transaction.commit();
  } catch (const std::exception& error) {  // a full disk, mostly; SQLite's or a log file's
    ingestor_.forget();
    return refuse(std::move(finished), error.what());
  }
  for (Batch& batch : finished) {
    for (auto& [job, metrics] : batch.streams->news)
      for (auto& [key, points] : metrics) points = thin(points, kLivePoints);
    post_([done = std::move(batch.done)] { done(std::nullopt); });
  }
}

// These and all that wait. The agents keep what was not accepted and send it again.
void Store::Writer::refuse(std::deque<Batch> batches, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    std::ranges::move(batches_, std::back_inserter(batches));
    batches_.clear();
  }
  const Error error{ErrorCode::unavailable, "streams could not be written: " + why, ""};
  for (Batch& batch : batches) post_([done = std::move(batch.done), error] { done(error); });
}

// A database with jobs from before clusters had names keeps their folder.
ClusterRecord Store::Writer::begin(const std::string& fresh) {
  Transaction transaction(database_);
  Statement make(
      database_,
      "INSERT INTO cluster SELECT ?1, 0, CASE WHEN EXISTS (SELECT 1 FROM jobs) THEN 'jobs' ELSE ?1 || "
      "'/jobs' END WHERE NOT EXISTS (SELECT 1 FROM cluster)");
  make.run(fresh);
  database_.run("UPDATE cluster SET generation = generation + 1");
  Statement read(database_, "SELECT id, generation, folder FROM cluster");
  read.start();
  read.next();
  ClusterRecord record{{read.text(0), read.integer(1)}, read.text(2)};
  read.start();
  transaction.commit();
  return record;
}

void Store::Writer::note_clock_step(Time from, Time to, Duration step) {
  Statement put(
      database_,
      "INSERT INTO clock_steps (from_ms, to_ms, step_ms) SELECT ?1, ?2, ?3"
      " WHERE NOT EXISTS (SELECT 1 FROM clock_steps WHERE from_ms = ?1 AND abs(step_ms - ?3) < 1000)");
  put.run(to_millis(from), to_millis(to), std::int64_t{step.count()});
}

Loaded Store::Writer::load(const ClusterState& empty) {
  EventLog::Replayed replayed = log_.replay(empty);
  events_since_snapshot_ = replayed.events;
  ask_again_after(replayed.snapshot_bytes);
  Loaded loaded{std::move(replayed.state), {}, log_.newest(), ledger_.waits()};
  Statement secrets(database_, "SELECT job, number, secret FROM attempts WHERE ended_ms IS NULL");
  for (secrets.start(); secrets.next();)
    loaded.secrets.push_back({{{secrets.integer(0)}, secrets.small(1)}, secrets.text(2)});
  return loaded;
}

}  // namespace podium
