// bench_scheduler [POLICY ...]: the scheduler's core at the size it is built for, without daemons: 10,000
// nodes of 8 devices, about 20,000 running and 100,000 queued jobs. Prints one JSON object a figure;
// bench/run makes the table.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <set>

#include "bench/figure.h"
#include "bench/scheduler/workload.h"
#include "coordinator/core/policies/policy.h"

namespace podium {
namespace {

constexpr int kTurns = 200;  // of each kind
constexpr double kPassGoalMs = 5;
constexpr double kColdGoalMs = 1000;
constexpr double kStartsGoal = 5000;  // a second
constexpr double kBytesGoal = 2048;   // a queued job

struct Variant {
  std::string name;
  SchedulingOptions options;
  Accounts accounts = {};
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string& name : policy_names()) {
    SchedulingOptions options;
    options.policy = *policy_named(name);
    all.push_back({.name = name, .options = options});
  }
  SchedulingOptions preempting;
  preempting.preempt = true;
  all.push_back({.name = "priority-backfill, preempting", .options = preempting});
  SchedulingOptions fair = preempting;
  fair.policy = PolicyKind::fair_share;
  all.push_back(
      {.name = "fair-share, preempting, 200 accounts", .options = fair, .accounts = {.many = true}});
  all.push_back({.name = "priority-backfill, 200 accounts with quotas",
                 .options = {},
                 .accounts = {.many = true, .quotas = true}});
  return all;
}

// The figures of one policy, always in the same order.
std::vector<Figure> measure(const Variant& variant) {
  Workload load(variant.options, variant.accounts);
  load.join_nodes();
  ::malloc_trim(0);
  const double before = resident_bytes(::getpid());
  load.queue_jobs(kJobs);
  ::malloc_trim(0);
  const double bytes_a_job = (resident_bytes(::getpid()) - before) / kJobs;

  const TurnCost cold = load.schedule();
  load.run_started();
  load.pass(std::chrono::minutes(30));
  for (int i = 0; i < 20; ++i) load.end_a_job();

  std::vector<Figure> figures;
  const auto add = [&](const std::string& name, double value, const std::string& unit, bool higher,
                       double goal) {
    figures.push_back({.name = name, .value = value, .unit = unit, .higher_is_better = higher, .goal = goal});
  };
  add("full pass from cold", cold.plan_ms, "ms", false, kColdGoalMs);
  add("jobs started, decided and applied", 1000 * cold.started / cold.total_ms, "jobs/s", true, kStartsGoal);
  const auto add_turns = [&](const std::string& after, const std::function<TurnCost()>& turn) {
    std::vector<double> plans, turns;
    for (int i = 0; i < kTurns; ++i) {
      const TurnCost cost = turn();
      plans.push_back(cost.plan_ms);
      turns.push_back(cost.total_ms);
    }
    add("pass after " + after + ", median", median(plans), "ms", false, kPassGoalMs);
    add("pass after " + after + ", p99", quantile(plans, 0.99), "ms", false, kPassGoalMs);
    add("turn after " + after + ", p99", quantile(turns, 0.99), "ms", false, kPassGoalMs);
  };
  add_turns("a job's end", [&] { return load.end_a_job(); });
  add_turns("a submit", [&] { return load.submit(); });
  add_turns("a cancel", [&] { return load.cancel(); });
  add("memory a queued job", bytes_a_job, "bytes", false, kBytesGoal);
  return figures;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  const std::set<std::string> chosen(argv + 1, argv + argc);
  std::vector<podium::Figure> first;  // of the simplest policy, which the others are held against
  std::string first_name;
  for (const podium::Variant& variant : podium::variants()) {
    if (!chosen.empty() && !chosen.contains(variant.name)) continue;
    std::vector<podium::Figure> figures = podium::measure(variant);
    if (first.empty()) first = figures, first_name = variant.name;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (variant.name != first_name) {
        figures[i].peer = first_name;
        figures[i].peer_value = first[i].value;
      }
      figures[i].name = variant.name + ": " + figures[i].name;
      podium::print(figures[i]);
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_scheduler: %s\n", error.what());
  return 1;
}
