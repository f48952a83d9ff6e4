// bench_forecast: what it costs to say why a job waits and when it starts, at the size the scheduler is built
// for: 10,000 nodes of 8 devices, about 20,000 running and 100,000 queued jobs. Prints one JSON object a
// figure; bench/run makes the table.
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>

#include "bench/figure.h"
#include "bench/scheduler/workload.h"
#include "coordinator/core/plan/start_order.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/forecast/start_forecast.h"

namespace podium {
namespace {

constexpr double kOneForecastMs = 6000;  // what the coordinator grants one (coordinator/api/explainer.cc)

// Of this thread on its processor: what else the machine does is no part of it.
double cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

double cost_of(const std::function<void()>& work) {
  const double start = cpu_ms();
  work();
  return cpu_ms() - start;
}

double median_cost(const std::function<void()>& work) {
  std::vector<double> costs;
  for (int i = 0; i < 5; ++i) costs.push_back(cost_of(work));
  return median(std::move(costs));
}

void tell(const std::string& name, double value, const std::string& unit = "ms") {
  print({.name = name, .value = value, .unit = unit, .higher_is_better = unit == "h"});
}

ForecastBounds bounded(double most_ms) {
  ForecastBounds bounds;
  bounds.moments = 1'000'000;
  bounds.give_up = [most_ms, start = 0.0](int moments) mutable {
    if (moments == 0) start = cpu_ms();
    return cpu_ms() - start > most_ms;
  };
  return bounds;
}

std::vector<JobId> first_of_queue(const ClusterState& state, Time now, std::size_t most) {
  StartOrder order(state, "gpu", now);
  std::vector<JobId> jobs;
  while (jobs.size() < most)
    if (const auto place = order.next())
      jobs.push_back(place->job);
    else
      break;
  return jobs;
}

void measure() {
  Workload load({}, {});
  load.join_nodes();
  load.queue_jobs(kJobs);
  load.schedule();
  load.run_started();
  load.pass(std::chrono::minutes(30));
  load.end_a_job();
  const ClusterState& state = load.state();
  const Time now = load.now();
  const Plan plan = make_plan(state, now);
  const std::vector<JobId> order = first_of_queue(state, now, SIZE_MAX);
  const auto any = [](const JobRequest&) { return true; };

  tell("copy of the state, made and freed", median_cost([&] { const ClusterState copy = state; }));
  tell("first 1,000 of the queue", median_cost([&] { first_of_queue(state, now, 1000); }));
  for (const auto& [name, place] : {std::pair<std::string, std::size_t>{"first", 0},
                                    {"1,000th", 1000},
                                    {"10,000th", 10'000},
                                    {"last", order.size() - 1}}) {
    const JobId job = order[place];
    tell(name + " job: its blockers", median_cost([&] { blockers_of(state, plan, job, now); }));
    StartRange range;
    tell(name + " job: its start",
         cost_of([&] { range = forecast_range(state, now, job, {}, bounded(kOneForecastMs)); }));
    if (range.not_before)
      tell(name + " job: seen ahead", std::chrono::duration<double>(*range.not_before - now).count() / 3600,
           "h");
    tell(name + " job: changes that start it sooner",
         cost_of([&] { starts_sooner(state, now, job, range, {}, any, bounded(kOneForecastMs)); }));
    std::optional<Time> expected;
    tell(name + " job: its expected start, without a limit", cost_of([&] {
           expected = forecast_start(state, now, job, {}, Outlook::expected, bounded(1e9)).at;
         }));
    if (expected)
      tell(name + " job: starts after", std::chrono::duration<double>(*expected - now).count() / 3600, "h");
  }
}

}  // namespace
}  // namespace podium

int main() try {
  podium::measure();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_forecast: %s\n", error.what());
  return 1;
}
