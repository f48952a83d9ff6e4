#include "bench/scheduler/workload.h"

#include <array>
#include <ctime>
#include <utility>

#include "coordinator/core/accounts/account_rules.h"

namespace podium {
namespace {

// Of this thread on its processor: what else the machine does is no part of it.
double cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

struct Gang {
  int share;  // of a thousand jobs
  Shape shape;
};

// Most jobs ask for one device and few for many, as in Microsoft's Philly trace (Jeon et al., 2019), with
// some gangs of today's size; on average about four devices, so that 20,000 jobs fill 80,000.
const std::array kGangs{Gang{574, {1, 0}}, Gang{90, {2, 2}}, Gang{110, {4, 4}}, Gang{40, {4, 0}},
                        Gang{100, {8, 8}}, Gang{30, {8, 0}}, Gang{30, {16, 8}}, Gang{10, {16, 0}},
                        Gang{10, {32, 8}}, Gang{5, {64, 8}}, Gang{1, {256, 8}}};
constexpr std::array kWalltimes{1, 2, 4, 8, 12, 24, 48, 72, 168};  // hours
constexpr std::array kPriorities{10, 50, 50, 50, 50, 50, 50, 60, 70, 90};

NodeDescription describe(int number) {
  NodeDescription node;
  node.id.value = "node-" + std::to_string(number);
  node.address = "10.0.0.1";
  node.boot = "boot";
  for (int index = 0; index < kDevicesPerNode; ++index) {
    Device device;
    device.index = index;
    device.kind = "gpu";
    node.devices.push_back(device);
  }
  return node;
}

std::string team_name(int team) { return "team-" + std::to_string(team); }
std::string account_name(int user) {
  return team_name(user / kUsers) + "/user-" + std::to_string(user % kUsers);
}

}  // namespace

Workload::Workload(const SchedulingOptions& options, const Accounts& accounts) : accounts_(accounts) {
  state_.scheduling = options;
  for (int user = 0; accounts.many && user < kTeams * kUsers; ++user)
    apply_all(state_, missing_accounts(state_, account_name(user), now_));
  for (int team = 0; accounts.quotas && team < kTeams; ++team) {
    const Command promised =
        ChangeAccount{team_name(team), {}, {{"gpu", kNodes * kDevicesPerNode / kTeams}}, {}};
    apply_all(state_, *handle(state_, promised, now_));
  }
}

void Workload::join_nodes() {
  for (int number = 0; number < kNodes; ++number) {
    const Command joined = NodeReported{{describe(number), {}, 0}};
    apply_all(state_, *handle(state_, joined, now_));
  }
}

JobRequest Workload::draw_request() {
  JobRequest request;
  request.name = "bert-large-" + std::to_string(state_.next_job.value);
  int nth = static_cast<int>(random_() % 1000);
  std::size_t gang = 0;
  while (nth >= kGangs[gang].share) nth -= kGangs[gang++].share;
  request.devices = kGangs[gang].shape.devices;
  request.per_node = kGangs[gang].shape.per_node;
  request.walltime =
      std::chrono::hours(kWalltimes[random_() % kWalltimes.size()]) + std::chrono::minutes(random_() % 60);
  request.priority = kPriorities[random_() % kPriorities.size()];
  if (accounts_.many) request.account = draw_account();
  return request;
}

std::string Workload::draw_account() {
  const double even = static_cast<double>(random_() % 1'000'000) / 1e6;
  return account_name(static_cast<int>(even * even * even * kTeams * kUsers));
}

void Workload::queue_jobs(int count) {
  for (int i = 0; i < count; ++i) {
    now_ += Duration(7);
    const Command submitted = SubmitExperiment{"bench", {draw_request()}};
    apply_all(state_, *handle(state_, submitted, now_));
  }
}

TurnCost Workload::plan_and_enact() {
  TurnCost cost;
  const double start = cpu_ms();
  const Plan plan = make_plan(state_, now_);
  cost.plan_ms = cpu_ms() - start;
  apply_all(state_, enact(state_, plan, now_));
  cost.total_ms = cpu_ms() - start;
  cost.started = static_cast<int>(plan.start.size());
  for (const Start& started : plan.start)
    for (const Placement& place : started.allocation.ranks)
      if (to_report_.empty() || to_report_.back() != place.node) to_report_.push_back(place.node);
  return cost;
}

TurnCost Workload::turn(const Command& command) {
  now_ += Duration(100);
  const double start = cpu_ms();
  apply_all(state_, *handle(state_, command, now_));
  TurnCost cost = plan_and_enact();
  cost.total_ms = cpu_ms() - start;
  return cost;
}

TurnCost Workload::schedule() { return plan_and_enact(); }

TurnCost Workload::submit() { return turn(SubmitExperiment{"bench", {draw_request()}}); }

TurnCost Workload::cancel() { return turn(CancelJob{draw(JobState::queued)}); }

TurnCost Workload::end_a_job() {
  const Job* job = nullptr;
  do job = &state_.jobs.at(draw(JobState::running));
  while (job->attempt->allocation.nodes > 1);
  NodeReport report = report_of(job->attempt->allocation.ranks.front().node);
  for (TaskReport& task : report.tasks)
    if (task.task.attempt.job == job->id) {
      task.state = TaskState::exited;
      task.exit = TaskExit{};
    }
  const TurnCost cost = turn(NodeReported{report});
  run_started();
  return cost;
}

// A random job in that state.
JobId Workload::draw(JobState wanted) {
  for (;;) {
    const JobId from{
        1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(state_.next_job.value))};
    const auto found = state_.jobs.lower_bound(from);
    if (found != state_.jobs.end() && found->second.state == wanted) return found->first;
  }
}

NodeReport Workload::report_of(const NodeId& node) const {
  const NodeOrders orders = node_orders(state_, node);
  NodeReport report{state_.nodes.at(node).description, {}, orders.version};
  for (const TaskOrder& order : orders.tasks)
    report.tasks.push_back({order.launch.task, TaskState::running, 1, {}});
  return report;
}

void Workload::run_started() {
  for (const NodeId& node : std::exchange(to_report_, {})) {
    const Command reported = NodeReported{report_of(node)};
    apply_all(state_, *handle(state_, reported, now_));
  }
}

}  // namespace podium
