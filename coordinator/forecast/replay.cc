#include "coordinator/forecast/replay.h"

#include <algorithm>

#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/placement/placement.h"

namespace podium {
namespace {

class Recorder {
 public:
  explicit Recorder(Replay& replay) : replay_(replay) {}

  void answered(std::size_t row, const Result<Events>& answer) {
    if (!answer) {
      replay_.jobs[row].refusal = answer.errors().front().message;
      ++over_;
      return;
    }
    for (const Event& event : *answer)
      if (const auto* queued = std::get_if<JobQueued>(&event.body)) {
        rows_.resize(static_cast<std::size_t>(queued->job.value) + 1);
        rows_[static_cast<std::size_t>(queued->job.value)] = row;
      }
  }

  void note(const Event& event) {
    if (std::holds_alternative<JobQueued>(event.body)) {
      ++now_.waiting;
    } else if (const auto* changed = std::get_if<JobStateChanged>(&event.body)) {
      note_state(*changed, event.at);
    } else if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
      held_[created->attempt.job] = {created->allocation.devices(), std::nullopt};
      now_.busy += created->allocation.devices();
    } else if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
      const Held held = held_.extract(ended->attempt.job).mapped();
      now_.busy -= held.devices;
      if (held.since) outcome_of(ended->attempt.job).device_time += (event.at - *held.since) * held.devices;
      if (ended->end == AttemptEnd::preempted) ++outcome_of(ended->attempt.job).preemptions;
    }
  }

  // Adds the changes up to `at` as one entry.
  void mark(Time at) {
    if (now_.busy == before_.busy && now_.waiting == before_.waiting) return;
    replay_.load.push_back({at, now_.busy - before_.busy, now_.waiting - before_.waiting});
    before_ = now_;
  }

  std::size_t over() const { return over_; }

 private:
  struct Held {
    std::int64_t devices = 0;
    std::optional<Time> since;  // all tasks run
  };

  std::size_t row_of(JobId job) const { return rows_[static_cast<std::size_t>(job.value)]; }
  JobOutcome& outcome_of(JobId job) { return replay_.jobs[row_of(job)]; }

  void note_state(const JobStateChanged& changed, Time at) {
    JobOutcome& outcome = outcome_of(changed.job);
    outcome.state = changed.to;
    if (changed.from == JobState::queued) --now_.waiting;
    if (changed.to == JobState::queued) ++now_.waiting;
    if (changed.to == JobState::running) {
      if (!outcome.first_start) outcome.first_start = at;
      held_.at(changed.job).since = at;
      outcome.ran -= at.time_since_epoch();
    }
    const bool leaves = changed.to == JobState::queued || is_terminal(changed.to);
    if (leaves && outcome.first_start) outcome.ran += at.time_since_epoch();
    if (!is_terminal(changed.to)) return;
    outcome.end = at;
    ++over_;
  }

  Replay& replay_;
  std::vector<std::size_t> rows_;  // of the trace, by job
  std::map<JobId, Held> held_;
  LoadChange now_, before_;
  std::size_t over_ = 0;
};

// The idle devices, where a job waits whose gang is no larger than the number of idle devices that it may
// use: those of its kind, on nodes with the labels that it asks for.
std::int64_t idle_though_fitting(const ClusterState& state) {
  std::int64_t idle = 0;
  for (const auto& [kind, queue] : state.indexes.queues) {
    std::int64_t most = 0;  // pools of one kind overlap
    for (const auto& [line, jobs] : queue) {
      const auto pool = state.indexes.pools.find({kind, line.shape.nodes});
      const std::int64_t free = pool == state.indexes.pools.end() ? 0 : pool->second.free.total();
      if (line.shape.devices <= free) most = std::max(most, free);
    }
    idle += most;
  }
  return idle;
}

std::int64_t devices_of(const ClusterState& state) {
  std::int64_t devices = 0;
  for (const auto& [key, pool] : state.indexes.pools)
    if (key.nodes.empty()) devices += pool.capacity.total();
  return devices;
}

}  // namespace

Replay replay(ClusterState cluster, const std::vector<TraceJob>& trace, const ReplayOptions& options) {
  Replay replay;
  replay.jobs.resize(trace.size());
  replay.devices = devices_of(cluster);
  Recorder recorder(replay);
  const Time begin = cluster.clock;
  for (const TraceJob& job : trace) apply_all(cluster, missing_accounts(cluster, job.request.account, begin));
  VirtualCluster virtual_cluster(
      std::move(cluster), begin, [](const Job&) { return Duration{}; }, options.model);
  virtual_cluster.observe([&](const Event& event) { recorder.note(event); });
  for (std::size_t row = 0; row < trace.size(); ++row)
    virtual_cluster.submit(
        trace[row].submit, {trace[row].request.name, {trace[row].request}}, {trace[row].work},
        [&recorder, row](const Result<Events>& answer) { recorder.answered(row, answer); });

  while (const auto next = virtual_cluster.next()) {
    if (options.until && *next > *options.until) break;
    replay.blocked_idle +=
        idle_though_fitting(virtual_cluster.state()) * (*next - virtual_cluster.now()).count();
    virtual_cluster.step();
    recorder.mark(virtual_cluster.now());
    if (options.progress) options.progress(recorder.over());
  }
  return replay;
}

}  // namespace podium
