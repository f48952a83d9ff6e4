#include "coordinator/store/store.h"

#include "coordinator/store/log_keeper.h"
#include "coordinator/store/run_change.h"
#include "coordinator/store/writer.h"

namespace podium {
namespace {

constexpr std::size_t kMostQueued = 32 << 20;  // bytes of streams waiting, and of what programs log

}  // namespace

Store::Store(std::filesystem::path home, Post post, const StoreOptions& options)
    : home_(std::move(home)),
      options_(options),
      post_(post),
      queued_bytes_(std::make_shared<std::atomic<std::size_t>>(0)),
      queued_changes_(std::make_shared<std::atomic<std::size_t>>(0)),
      writer_(std::make_unique<Writer>(home_, std::move(post), options)),
      logs_(std::make_unique<LogKeeper>(home_, options.logs, options.retention[Kept::logs])),
      room_(std::in_place, home_, options.disk_reserve) {}

Store::~Store() = default;

Loaded Store::load(const ClusterState& empty) { return writer_->load(empty); }

void Store::note_clock_step(Time from, Time to, Duration step) { writer_->note_clock_step(from, to, step); }

void Store::commit(Commit turn, std::function<void()> done) {
  if (!turn.retention.empty())
    done = [this, done = std::move(done)] {
      logs_->rules_changed();
      done();
    };
  writer_->commit(std::move(turn), std::move(done));
}

ClusterRecord Store::begin(const std::string& fresh) { return writer_->begin(fresh); }

void Store::ingest(std::shared_ptr<StreamBatch> streams, IngestDone done) {
  const std::size_t size = streams->body.size();
  if (*queued_bytes_ + size > kMostQueued) {
    const Error full{ErrorCode::unavailable,
                     "too many streams are waiting to be written; send this again later", ""};
    return post_([done = std::move(done), full] { done(full); });
  }
  *queued_bytes_ += size;
  auto finish = [done = std::move(done), queued = queued_bytes_, size](const std::optional<Error>& error) {
    *queued -= size;
    done(error);
  };
  logs_->write(streams,
               [this, streams, finish = std::move(finish)](const std::optional<Error>& error) mutable {
                 if (error) return post_([finish, error] { finish(error); });
                 writer_->ingest(std::move(streams), std::move(finish));
               });
}

void Store::change(std::shared_ptr<const RunChange> change, RunDone done) {
  const std::size_t size = size_of(*change);
  std::optional<Error> why;
  if (*queued_changes_ + size > kMostQueued)
    why = Error{ErrorCode::unavailable,
                "too much that programs log is waiting to be written; log it again soon", ""};
  else
    why = refusal();
  if (why) return post_([done = std::move(done), error = *why] { done(error); });
  *queued_changes_ += size;
  writer_->change(std::move(change), [done = std::move(done), queued = queued_changes_,
                                      size](const Result<std::int64_t>& result) {
    *queued -= size;
    done(result);
  });
}

std::optional<Error> Store::failure() const { return writer_->failure(); }

std::optional<Error> Store::refusal() const {
  if (auto failure = writer_->failure()) return failure;
  return room_->refusal();
}

bool Store::wants_snapshot() const { return writer_->wants_snapshot(); }

std::unique_ptr<Reader> Store::open_reader() const { return std::make_unique<Reader>(home_); }

}  // namespace podium
