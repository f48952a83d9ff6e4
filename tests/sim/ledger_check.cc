#include "tests/sim/ledger_check.h"

#include "coordinator/store/ledger_marks.h"

namespace podium::sim {
namespace {

// What a job held or asked for, straight from the events.
struct Integral {
  int asked = 0, devices = 0;
  Time since;
  std::int64_t device_ms = 0, live_ms = 0;

  void change(Time at, int to) {
    device_ms += (at - since).count() * devices;
    if (devices > 0) live_ms += (at - since).count();
    since = at;
    devices = to;
  }
};

std::map<JobId, Integral> integrals_of(const Events& log) {
  std::map<JobId, Integral> jobs;
  for (const Event& event : log) {
    if (const auto* queued = std::get_if<JobQueued>(&event.body))
      jobs[queued->job] = {queued->request.devices, queued->request.devices, event.at};
    if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
      int devices = 0;
      for (const Placement& place : created->allocation.ranks) devices += place.devices();
      jobs[created->attempt.job].change(event.at, devices);
    }
    if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
      Integral& job = jobs[ended->attempt.job];
      job.change(event.at, job.asked);
    }
    const auto* changed = std::get_if<JobStateChanged>(&event.body);
    if (!changed) continue;
    Integral& job = jobs[changed->job];
    if (is_terminal(changed->to)) job.change(event.at, 0);
    if (is_terminal(changed->from)) job.change(event.at, job.asked);
  }
  return jobs;
}

// Rank 0 tells what it likes, also long before and after its attempt, as nodes do whose clocks are off.
void tell_phases(const Events& log, Random& random, std::map<JobId, LedgerRows>& jobs) {
  for (const Event& event : log) {
    const auto* created = std::get_if<AttemptCreated>(&event.body);
    if (!created) continue;
    std::int64_t step = random.below(100);
    for (int told = random.below(8); told > 0; --told) {
      const Time at = event.at + std::chrono::seconds(random.between(-20, 200));
      const auto phase = static_cast<LedgerKind>(random.between(static_cast<int>(LedgerKind::rendezvous),
                                                                static_cast<int>(LedgerKind::checkpointing)));
      if (phase == LedgerKind::lost) continue;
      jobs[created->attempt.job].phases.push_back(
          {created->attempt.number, at, phase, step += random.below(50)});
    }
  }
}

std::map<JobId, LedgerRows> rows_of(const SimCluster& cluster) {
  std::map<JobId, LedgerRows> jobs;
  auto wait = cluster.waits().begin();
  const Events& log = cluster.log();
  for (std::size_t i = 0; i <= log.size(); ++i) {
    for (; wait != cluster.waits().end() && wait->first == i; ++wait)
      jobs[wait->second.job].marks.push_back(
          {wait->second.since, JobMarkKind::waiting, 0, 0, wait->second.code});
    if (i == log.size()) break;
    if (const auto* queued = std::get_if<JobQueued>(&log[i].body)) {
      jobs[queued->job].devices = queued->request.devices;
      jobs[queued->job].command = queued->request.command;
    }
    if (const auto marked = mark_of(log[i])) jobs[marked->job].marks.push_back(marked->mark);
  }
  return jobs;
}

std::string violation_of(const Integral& job, const std::vector<LedgerPiece>& pieces) {
  std::int64_t device_ms = 0, live_ms = 0;
  Time end;
  for (const LedgerPiece& piece : pieces) {
    if (piece.from < end) return "pieces overlap";
    end = piece.to;
    if (piece.kind == LedgerKind::waiting && piece.detail.empty()) return "a wait has no name";
    device_ms += piece.device_ms();
    live_ms += piece.wall().count();
  }
  if (live_ms != job.live_ms)
    return "it lived " + std::to_string(job.live_ms) + " ms, and its pieces are " + std::to_string(live_ms);
  if (device_ms != job.device_ms)
    return "its devices × time are " + std::to_string(job.device_ms) + " ms, and its pieces " +
           std::to_string(device_ms);
  return "";
}

}  // namespace

std::string ledger_violation(const SimCluster& cluster, Random& random) {
  std::map<JobId, Integral> jobs = integrals_of(cluster.log());
  std::map<JobId, LedgerRows> rows = rows_of(cluster);
  tell_phases(cluster.log(), random, rows);
  if (jobs.size() != rows.size()) return "not every job has marks";
  for (auto& [id, job] : jobs) {
    job.change(cluster.now(), job.devices);
    const std::string violation = violation_of(job, make_ledger(rows.at(id), cluster.now()));
    if (!violation.empty()) return "ledger of job " + to_string(id) + ": " + violation;
  }
  return "";
}

}  // namespace podium::sim
