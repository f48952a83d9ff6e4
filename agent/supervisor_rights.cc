// The Supervisor's rights to run its tasks: whose orders it follows, the leases that it passes on to the
// shims, and the fences that it watches.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "agent/process/fence_file.h"
#include "agent/supervisor.h"

namespace podium {

// An agent follows no other cluster's orders while a task of its own cluster lives.
void Supervisor::join(const NodeOrders& orders) {
  const ClusterName& theirs = orders.cluster;
  const bool same = theirs.id.empty() || cluster_.name.id.empty() || theirs.id == cluster_.name.id;
  if (!same && running() > 0)
    throw std::runtime_error(
        "the coordinator is that of cluster " + theirs.id + ", and tasks here are of cluster " +
        cluster_.name.id +
        ": its orders are not followed and the tasks go on; podium nodes adopt tells them to end");
  if (!same) {
    spdlog::warn("joining cluster {}; what is left of cluster {} is set aside", theirs.id, cluster_.name.id);
    set_jobs_aside(config_.home, cluster_);
    tasks_.clear();
    for (const TaskId task : inputs_.wanted()) inputs_.drop(task);
    room_.drop_kept();
    table_ = {};
    highest_job_ = 0;
  }
  if (theirs.id.empty() ||
      (same && !cluster_.name.id.empty() && theirs.generation <= cluster_.name.generation))
    return;
  cluster_ = {theirs, orders.folder};
  write_cluster(config_.home, cluster_);
}

// The time that the previous agent had left, because nothing has renewed it since. A time in the future is of
// another boot.
void Supervisor::resume_lease() {
  table_.last_sync = clock_.now();
  if (const auto left = lease_.read(); left && left->last_sync <= table_.last_sync) {
    table_.last_sync = left->last_sync;
    left_to_tasks_ = left->end;
    orders_.lease = left->lease;
    orders_.orphan = left->orphan;
  }
}

// Each task has its own: another attempt may end the right of one job without affecting others.
void Supervisor::write_leases() {
  const auto try_to_write = [this](const std::function<void()>& write) {
    try {
      write();
    } catch (const std::system_error& error) {
      action_troubles_.failed(std::string(error.what()) +
                              "; a task that does not learn of its renewed lease ends too early");
    }
  };
  const Duration leave = lease::leave(orders_.lease);
  std::optional<Time> of_before;  // the end for tasks that have no lease of their own
  for (const auto& [id, process] : table_.processes) {
    if (process.state == TaskState::exited) continue;
    const Time end = right_ends(orders_, table_, id);
    if (std::optional<TaskLease>& lease = tasks_.at(id).lease)
      try_to_write([&] { lease->set(end, leave); });
    else
      of_before = std::min(of_before.value_or(end), end);
  }
  const LeaseRecord record{of_before.value_or(table_.last_sync + orders_.lease), table_.last_sync,
                           orders_.lease, orders_.orphan};
  if (record == lease_written_) return;
  try_to_write([&] {
    lease_.set(record);
    lease_written_ = record;
  });
}

// The jobs of tasks that run or are ordered.
void Supervisor::watch_fences() {
  FenceWatch::Attempts attempts;
  const auto add = [&attempts](AttemptId attempt, Time born, Time begun) {
    SharedFence& newest = attempts[attempt.job];
    if (attempt.number > newest.attempt) newest.begun = {};
    newest.attempt = std::max(newest.attempt, attempt.number);
    if (attempt.number == newest.attempt) newest.begun = std::max(newest.begun, begun);
    newest.born = std::max(newest.born, born);
  };
  for (const auto& [id, process] : table_.processes)
    if (process.state != TaskState::exited) add(id.attempt, {}, {});
  for (const TaskOrder& order : orders_.tasks) {
    const AttemptId attempt = order.launch.task.attempt;
    const auto process = table_.processes.find(order.launch.task);
    if (process == table_.processes.end() && order.action == TaskAction::start)
      add(attempt, order.born, order.begun);
    else if (process != table_.processes.end() && process->second.state != TaskState::exited)
      add(attempt, {}, order.begun);
  }
  std::erase_if(table_.fences, [&](const auto& entry) { return !attempts.contains(entry.first); });
  std::erase_if(newer_elsewhere_, [this](const auto& entry) {
    return std::ranges::none_of(
        orders_.tasks, [&](const TaskOrder& order) { return order.launch.task.attempt.job == entry.first; });
  });
  fences_.watch(jobs_folder(), cluster_.name.id, std::move(attempts), lease::fence_poll(orders_.lease));
}

// Also of jobs whose folder somebody has deleted since.
std::int64_t Supervisor::highest_job() const {
  const Fences& ran = table_.forgotten;
  return ran.empty() ? highest_job_ : std::max(highest_job_, ran.rbegin()->first.value);
}

std::vector<AttemptId> Supervisor::ended_attempts(bool interrupted) const {
  const Fences& ran = table_.forgotten;
  Fences ended;
  for (const TaskOrder& order : orders_.tasks) {
    const AttemptId ordered = order.launch.task.attempt;
    std::int32_t& newest = ended[ordered.job];
    if (const auto known = ran.find(ordered.job); known != ran.end() && known->second >= ordered.number)
      newest = std::max(newest, known->second);
    if (const auto newer = newer_elsewhere_.find(ordered.job); newer != newer_elsewhere_.end())
      newest = std::max(newest, newer->second);
  }
  std::erase_if(ended, [](const auto& entry) { return entry.second == 0; });
  std::size_t newest = interrupted ? kMostEnded : 0;
  for (auto it = ran.rbegin(); it != ran.rend() && newest > 0; ++it, --newest)
    ended[it->first] = std::max(ended[it->first], it->second);
  std::vector<AttemptId> all;
  for (const auto& [job, attempt] : ended) all.push_back({job, attempt});
  return all;
}

// News of the folder of a cluster that was left may still be on its way.
void Supervisor::take_news(const FenceNews& news) {
  if (news.jobs != jobs_folder()) return;
  if (news.trouble && start_health_.probed(*news.trouble, clock_.now())) tell_health();
  if (news.highest_job > highest_job_) {
    highest_job_ = news.highest_job;
    changed();
  }
  for (const auto& [job, look] : news.looks) {
    FenceLook& known = table_.fences[job];
    known.failure = look.failure;
    known.anothers = look.anothers;
    if (!look.failure.empty()) continue;
    if (known.epoch != look.epoch) known.since = look.since;
    known.epoch = look.epoch;
    known.read = look.read;
  }
  act_soon();
}

}  // namespace podium
