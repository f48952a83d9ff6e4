#include "coordinator/store/event_log.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "common/model/codec.h"

namespace podium {
namespace {

constexpr int kPrunedAtOnce = 2000;

[[noreturn]] void fail_damaged(const std::string& row, const std::string& what) {
  throw std::runtime_error(
      "podium.db is damaged: " + row + " " + what +
      ". Nothing was changed. Copy the coordinator's home away, then restore a backup of "
      "podium.db (with podium.db-wal, where there is one) and start again");
}

}  // namespace

EventLog::EventLog(Database& database)
    : database_(database),
      insert_event_(database, "INSERT INTO events (time_ms, type, body) VALUES (?1, ?2, ?3)"),
      insert_snapshot_(database, "INSERT OR REPLACE INTO snapshots (seq, state) VALUES (?1, ?2)"),
      drop_snapshots_(
          database,
          "DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 2)"),
      drop_events_(database,
                   "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <"
                   " (SELECT min(seq) FROM snapshots HAVING count(*) = 2) ORDER BY seq LIMIT ?1)") {}

std::int64_t EventLog::last() {
  Statement last(database_, "SELECT coalesce(max(seq), 0) FROM events");
  last.start().next();
  return last.integer(0);
}

Time EventLog::newest() {
  Statement newest(database_, "SELECT time_ms FROM events ORDER BY seq DESC LIMIT 1");
  newest.start();
  return newest.next() ? from_millis(newest.integer(0)) : Time{};
}

std::int64_t EventLog::append(const Event& event) {
  insert_event_.run(to_millis(event.at), type_of(event), dump(to_json(event)));
  return database_.last_insert_id();
}

void EventLog::write_snapshot(std::int64_t seq, const std::string& state) {
  Transaction transaction(database_);
  insert_snapshot_.run(seq, state);
  drop_snapshots_.run();
  transaction.commit();
}

bool EventLog::prune() {
  drop_events_.run(kPrunedAtOnce);
  return sqlite3_changes(database_.handle()) > 0;
}

EventLog::Start EventLog::newest_whole_snapshot(const ClusterState& empty) {
  Statement snapshots(database_, "SELECT seq, state FROM snapshots ORDER BY seq DESC");
  std::string broken;
  for (snapshots.start(); snapshots.next();) {
    const std::int64_t seq = snapshots.integer(0);
    try {
      const std::string text = snapshots.text(1);
      Start start{seq, text.size(), cluster_state_from_json(nlohmann::json::parse(text), empty)};
      if (!broken.empty()) spdlog::warn("{}; going on from the one of event {}", broken, seq);
      return start;
    } catch (const std::exception& error) {
      if (broken.empty())
        broken = "the snapshot of event " + std::to_string(seq) + " cannot be read: " + error.what();
    }
  }
  Statement first(database_, "SELECT coalesce(min(seq), 1) FROM events");
  first.start().next();
  if (first.integer(0) > 1)
    fail_damaged("no snapshot is whole", broken.empty() ? "and early events are gone" : "(" + broken + ")");
  if (!broken.empty()) spdlog::warn("{}; going on from the first event", broken);
  return {0, 0, empty};
}

EventLog::Replayed EventLog::replay(const ClusterState& empty) {
  Start start = newest_whole_snapshot(empty);
  Replayed replayed{std::move(start.state), start.bytes, 0};
  Statement events(database_, "SELECT seq, body FROM events WHERE seq > ?1 ORDER BY seq");
  for (events.start(start.seq); events.next();) {
    const std::int64_t seq = events.integer(0);
    const std::int64_t expected = start.seq + ++replayed.events;
    if (seq != expected) fail_damaged("event " + std::to_string(expected), "is missing");
    try {
      apply(replayed.state, event_from_json(nlohmann::json::parse(events.text(1))));
    } catch (const std::exception& error) {
      fail_damaged("event " + std::to_string(seq), std::string("cannot be read: ") + error.what());
    }
  }
  return replayed;
}

}  // namespace podium
