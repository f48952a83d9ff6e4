#include "coordinator/forecast/virtual_cluster.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

// Far enough for silence and deadlines never to be noticed, near enough for times not to overflow.
constexpr Duration kNever = std::chrono::years(1000);

// Stands for tasks that no order covers: no job has this number.
constexpr AttemptId kNobodys{{0}, 1};

Limits without_silence(Limits limits) {
  limits.unknown_after = limits.lost_after = limits.longest_pause = kNever;
  limits.start_within = limits.stop_within = kNever;
  return limits;
}

}  // namespace

VirtualCluster::VirtualCluster(ClusterState state, Time now, const Work& work, const RunModel& model)
    : state_(std::move(state)), now_(now), model_(model) {
  PODIUM_CHECK(now >= state_.clock, "a forecast begins at the state's time or after it");
  PODIUM_CHECK(model.stop_takes > Duration{}, "stopping a job takes time");
  state_.limits = without_silence(state_.limits);
  state_.unheard.clear();
  state_.listens_until.reset();
  state_.indexes.deadlines.clear();  // they went by the limits of before
  for (const auto& [id, job] : state_.jobs) adopt(job, work(job));
  settle();
}

void VirtualCluster::adopt(const Job& job, Duration work) {
  Run& run = runs_[job.id];
  run.left = std::max(work, Duration{}) * job.devices();
  if (!job.attempt) return;
  if (job.attempt->stop != StopCause::none)
    set_leave(job.id, run, now_ + model_.stop_takes);
  else if (job.state == JobState::running)
    start_run(job);
  else
    call(job);
}

void VirtualCluster::submit(Time at, SubmitExperiment experiment, std::vector<Duration> work, Answer answer) {
  PODIUM_CHECK(at >= now_, "nothing is submitted in the past");
  PODIUM_CHECK(work.size() == experiment.jobs.size(), "every job submitted has its work");
  arrivals_.emplace(at, Arrival{std::move(experiment), std::move(work), std::move(answer)});
}

std::optional<Time> VirtualCluster::next() const {
  std::optional<Time> next;
  const auto earlier = [&next](Time time) { next = next ? std::min(*next, time) : time; };
  if (!arrivals_.empty()) earlier(arrivals_.begin()->first);
  if (!leaves_.empty()) earlier(leaves_.begin()->first);
  if (next) {
    if (const auto tick = next_tick(state_, now_)) earlier(*tick);
    if (plan_.stale_at) earlier(*plan_.stale_at);
    return std::max(*next, now_);
  }
  // Nothing runs and nothing will be submitted: only the end of a back-off or of a maintenance window can
  // change anything.
  const auto back_off = state_.indexes.timers.upper_bound({now_, JobId{INT64_MAX}});
  if (back_off != state_.indexes.timers.end()) earlier(back_off->first);
  if (const auto end = next_window_end(state_)) earlier(std::max(*end, now_));
  return next;
}

bool VirtualCluster::step(Duration leap) {
  const std::optional<Time> moment = next();
  if (!moment) return false;
  const std::optional<Time> ticks = next_tick(state_, now_);
  now_ = std::max(*moment, now_ + leap);
  end_tasks();
  while (!arrivals_.empty() && arrivals_.begin()->first <= now_)
    arrive(std::move(arrivals_.extract(arrivals_.begin()).mapped()));
  if (ticks && *ticks <= now_) take(Tick{});
  settle();
  return true;
}

// The scheduler's decisions take effect on the nodes at once, and their reports may lead to more decisions.
// This ends, because devices become free only at a later moment.
void VirtualCluster::settle() {
  report_called();
  while (plan_.stale(state_, now_)) {
    plan_ = make_plan(state_, now_);
    absorb(enact(state_, plan_, now_));
    plan_.carried_out(state_);
    report_called();
  }
}

void VirtualCluster::end_tasks() {
  for (const auto& [at, id] : leaves_) {
    if (at > now_) break;
    call(state_.jobs.at(id));
  }
  report_called();
}

void VirtualCluster::arrive(Arrival arrival) {
  const Result<Events> answer = handle(state_, arrival.experiment, now_);
  if (arrival.answer) arrival.answer(answer);
  if (!answer) return;
  std::int64_t job = state_.next_job.value;
  for (std::size_t i = 0; i < arrival.work.size(); ++i)
    runs_[JobId{job++}].left = std::max(arrival.work[i], Duration{}) * arrival.experiment.jobs[i].devices;
  absorb(*answer);
}

void VirtualCluster::take(const Command& command) {
  const Result<Events> events = handle(state_, command, now_);
  PODIUM_CHECK(events.ok(), describe(events.errors()));
  absorb(*events);
}

void VirtualCluster::absorb(const Events& events) {
  for (const Event& event : events) {
    if (observer_) observer_(event);
    apply(state_, event);
    follow(event);
  }
}

// The effect of an event on the processes of the nodes.
void VirtualCluster::follow(const Event& event) {
  if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
    call(state_.jobs.at(created->attempt.job));
  } else if (const auto* stopping = std::get_if<AttemptStopping>(&event.body)) {
    stop_run(state_.jobs.at(stopping->attempt.job));
  } else if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
    Run& run = runs_.at(ended->attempt.job);
    if (run.leaves) leaves_.erase({*run.leaves, ended->attempt.job});
    run = {run.left, std::nullopt, std::nullopt};
  } else if (const auto* changed = std::get_if<JobStateChanged>(&event.body)) {
    if (changed->to == JobState::running) start_run(state_.jobs.at(changed->job));
    if (is_terminal(changed->to)) runs_.erase(changed->job);
  }
}

void VirtualCluster::start_run(const Job& job) {
  Run& run = runs_.at(job.id);
  run.since = now_;
  set_leave(job.id, run, now_ + (run.left + Duration(job.devices() - 1)) / job.devices());
}

void VirtualCluster::stop_run(const Job& job) {
  Run& run = runs_.at(job.id);
  if (run.leaves && *run.leaves <= now_) return;  // its tasks are leaving already
  if (run.since) {
    Duration done = now_ - *run.since;
    const bool at_checkpoint = job.resize && job.resize->grows();
    if (model_.checkpoint_every > Duration{} && !at_checkpoint) done -= done % model_.checkpoint_every;
    run.left -= done * job.devices();
    run.since.reset();
  }
  set_leave(job.id, run, now_ + model_.stop_takes);
}

void VirtualCluster::set_leave(JobId job, Run& run, Time at) {
  if (run.leaves) leaves_.erase({*run.leaves, job});
  run.leaves = at;
  leaves_.insert({at, job});
}

void VirtualCluster::call(const Job& job) {
  const NodeId* last = nullptr;  // ranks count by node
  for (const Placement& place : job.attempt->allocation.ranks) {
    if (!last || *last != place.node) called_.insert(place.node);
    last = &place.node;
  }
}

void VirtualCluster::report_called() {
  while (!called_.empty()) {
    const NodeId node = called_.extract(called_.begin()).value();
    take(NodeReported{report_of(state_.nodes.at(node))});
  }
}

NodeReport VirtualCluster::report_of(const Node& node) const {
  NodeReport report{node.description, {}, node.version()};
  for (int stray = 0; stray < node.strays; ++stray)
    report.tasks.push_back({{kNobodys, stray}, TaskState::running, 1, std::nullopt});
  for (const JobId id : holders_of(node)) {
    const Job& job = state_.jobs.at(id);
    const std::optional<Time> leaves = runs_.at(id).leaves;
    const bool left = leaves && *leaves <= now_;
    for (std::size_t rank = 0; rank < job.attempt->tasks.size(); ++rank) {
      const bool here = job.attempt->allocation.ranks[rank].node == node.description.id;
      if (!here || job.attempt->tasks[rank].over()) continue;
      TaskReport task{{job.attempt_id(), static_cast<int>(rank)}, TaskState::running, 1, std::nullopt};
      if (left) {
        task.state = TaskState::exited;
        task.exit = TaskExit{};
      }
      report.tasks.push_back(task);
    }
  }
  return report;
}

}  // namespace podium
