// Seeded random histories of a simulated cluster. A failure names its seed; PODIUM_SIM_SEED=n runs that one
// alone, and PODIUM_SIM_HISTORIES=n sets how many are run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "coordinator/core/policies/policy.h"
#include "tests/sim/ledger_check.h"
#include "tests/sim/sim_cluster.h"

namespace podium::sim {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kQuick = 500;
constexpr std::uint64_t kAll = 2000;  // that together see everything

std::vector<NodeDescription> random_nodes(Random& random) {
  std::vector<NodeDescription> nodes;
  const int count = random.between(1, 4);
  for (int n = 1; n <= count; ++n) {
    NodeDescription node;
    node.id.value = "node-" + std::to_string(n);
    node.address = "10.0.0." + std::to_string(n);
    if (random.chance(70)) node.labels["switch"] = "leaf-" + std::to_string(random.between(1, 2));
    if (random.chance(50)) node.labels["spine"] = "spine-1";
    node.boot = "boot-1";
    const int devices = random.between(1, 4);
    for (int d = 0; d < devices; ++d) {
      Device device;
      device.index = d;
      device.kind = random.chance(80) ? "cpu" : "gpu";
      device.island = d / 2;
      node.devices.push_back(device);
    }
    nodes.push_back(node);
  }
  return nodes;
}

// Those above before those below.
constexpr const char* kAccounts[] = {"default", "nlp",      "nlp/bert",  "nlp/gpt",
                                     "vision",  "vision/a", "vision/a/b"};

void make_elastic(Random& random, JobRequest& request) {
  const int step = request.devices;
  const int sizes = random.between(2, 4);
  for (int i = 1; i <= sizes; ++i) request.sizes.push_back(i * step);
  request.saves = random.chance(50);
}

SubmitExperiment random_experiment(Random& random) {
  SubmitExperiment submit{"sim", {}};
  const int jobs = random.between(1, 3);
  for (int i = 0; i < jobs; ++i) {
    JobRequest request;
    request.name = "job";
    request.kind = random.chance(80) ? "cpu" : "gpu";
    request.devices = random.between(1, 5);
    request.per_node = random.chance(30) ? random.between(1, 3) : 0;
    request.priority = random.between(0, 3) * 25;
    request.max_restarts = random.between(0, 4);
    request.walltime = seconds(random.chance(20) ? 15 : 3600);
    request.command = request.process_per_node = random.chance(20);
    if (random.chance(20)) request.grace = seconds(random.between(1, 300));
    if (random.chance(20)) request.before_walltime = seconds(random.between(1, 14));
    if (random.chance(20)) request.nodes["partition"] = "nlp";
    if (random.chance(20)) request.within = random.chance(50) ? Within::leaf_switch : Within::node;
    if (request.devices % 2 == 0) (random.chance(50) ? request.tensor : request.pipeline) = 2;
    if (random.chance(30)) make_elastic(random, request);
    request.account = kAccounts[random.below(static_cast<int>(std::size(kAccounts)))];
    submit.jobs.push_back(request);
  }
  if (random.chance(30)) submit.asha = Asha{"eval/loss", Goal::min, 10, random.between(11, 200), 2};
  return submit;
}

SubmitExperiment random_service(Random& random) {
  JobRequest request;
  request.name = "answers";
  request.kind = random.chance(80) ? "cpu" : "gpu";
  request.priority = random.between(0, 3) * 25;
  request.walltime = random.chance(20) ? Duration(seconds(15)) : kLongestWalltime;
  const int max = random.between(1, 4);
  request.replica = Replica{random.chance(50) ? "answers" : "fill", random.between(1, max), max,
                            std::chrono::milliseconds(20)};
  return {request.replica->service, std::vector<JobRequest>(static_cast<std::size_t>(max), request)};
}

// Jobs of today wait for jobs of yesterday: those that live, and those that have ended, as the store tells.
void add_dependencies(const SimCluster& cluster, Random& random, SubmitExperiment& submit) {
  for (const auto& [job, end] : cluster.ended()) submit.ended.emplace(job, end);
  for (const JobId run : cluster.tracked())
    submit.ended.emplace(run, random.chance(50) ? JobState::running : JobState::succeeded);
  const int last = static_cast<int>(cluster.state().next_job.value) - 1;
  for (JobRequest& request : submit.jobs)
    while (last > 0 && random.chance(25))
      request.after.push_back({{random.between(1, last)}, random.chance(60) ? When::any : When::ok});
}

JobId any_job(const ClusterState& state, Random& random) {
  return {random.between(0, static_cast<int>(state.next_job.value))};
}

void change_account(SimCluster& cluster, Random& random) {
  ChangeAccount change;
  change.account = kAccounts[random.below(static_cast<int>(std::size(kAccounts)))];
  if (random.chance(50)) change.share = random.between(1, 4);
  const auto devices = [&] { return random.chance(20) ? std::nullopt : std::optional(random.between(0, 6)); };
  if (random.chance(60)) change.quota["cpu"] = devices();
  if (random.chance(30)) change.limit["cpu"] = devices();
  cluster.turn(change);
}

void operate(SimCluster& cluster, Random& random) {
  const JobId job = any_job(cluster.state(), random);
  switch (random.below(8)) {
    case 7:
      cluster.turn(ExtendJob{job, seconds(random.between(10, 7200))});
      return;
    case 5:
    case 6:
      return change_account(cluster, random);
    case 0:
      cluster.turn(HoldJob{job});
      return;
    case 1:
    case 2:
      cluster.turn(ReleaseJob{job});
      return;
    case 3:
      cluster.turn(PrioritiseJob{job, random.between(0, 100)});
      return;
    default:
      cluster.turn(cluster.requeue(job));
  }
}

// Also what comes twice, too early or long after the trial has ended.
void tell_rung(SimCluster& cluster, Random& random) {
  const int rung = random.between(1, 3);
  cluster.turn(RungTold{any_job(cluster.state(), random), rung, (10 << (rung - 1)) - random.below(2),
                        static_cast<double>(random.below(5))});
}

// What a controller may ask, and what it may ask too late or of the wrong job.
void scale(SimCluster& cluster, Random& random) {
  const JobId job = any_job(cluster.state(), random);
  if (random.chance(50))
    cluster.turn(PauseReplica{job, "its load is low"});
  else
    cluster.turn(PromoteReplica{job, "requests wait"});
}

AttemptId any_attempt(const ClusterState& state, Random& random) {
  if (state.jobs.empty()) return {{1}, 1};
  const auto job = std::next(state.jobs.begin(), random.below(static_cast<int>(state.jobs.size())));
  return job->second.attempt_id();
}

void disturb_node(SimNode& node, Random& random) {
  switch (random.below(13)) {
    case 0:
      return node.connect(false);
    case 1:
    case 2:
      return node.connect(true);
    case 3:
      return node.crash_agent();
    case 4:
    case 5:
      return node.restart_agent();
    case 6:
      return node.lose_power();
    case 7:
      return node.replace_machine();
    case 8:
      return node.mislay_tasks(random);
    case 9:
      return node.stick_process(random);
    case 10:
    case 11:
      return node.occupy(random.chance(50));
    default:
      return node.set_health(random.chance(50) ? "" : "too hot");
  }
}

SchedulingOptions random_scheduling(Random& random) {
  SchedulingOptions options;
  const std::vector<std::string> names = policy_names();
  options.policy =
      *policy_named(names[static_cast<std::size_t>(random.below(static_cast<int>(names.size())))]);
  options.preempt = random.chance(50);
  options.reservations = random.between(1, 4);
  options.resize_after = seconds(random.between(5, 60));
  return options;
}

// Of programs elsewhere: into an experiment of their own, into any other, and into one that there is none of.
void track(SimCluster& cluster, Random& random) {
  TrackRun run{{}, "elsewhere"};
  const std::int64_t next = cluster.state().next_experiment.value;
  if (random.chance(60)) run.experiment = ExperimentId{random.between(0, static_cast<int>(next))};
  cluster.turn(run);
}

void submit(SimCluster& cluster, Random& random) {
  if (random.chance(20)) return track(cluster, random);
  if (random.chance(15)) {
    cluster.turn(random_service(random));
    return;
  }
  SubmitExperiment experiment = random_experiment(random);
  add_dependencies(cluster, random, experiment);
  cluster.turn(experiment);
}

// What operators do to nodes.
Command node_operation(const NodeId& node, Time now, Random& random) {
  switch (random.below(7)) {
    case 0:
      return DrainNode{node, "new fans", {}, {}};
    case 3:
      return ReserveNode{node, kAccounts[random.below(static_cast<int>(std::size(kAccounts)))], "",
                         now + seconds(random.between(0, 300)), now + seconds(random.between(1, 3600))};
    case 4:
      return UnreserveNode{node};
    case 1:
      return DrainNode{node, "", now + seconds(random.between(0, 300)),
                       now + seconds(random.between(1, 900))};
    case 2:
      return LabelNode{node,
                       {{"partition", random.chance(70) ? std::optional<std::string>("nlp") : std::nullopt}}};
    default:
      return ResumeNode{node};
  }
}

// Its machine was lent; another is lent in its place.
void give_back(SimCluster& cluster, SimNode& node, Random& random) {
  if (!node.reachable()) return;
  node.lose_power();
  for (int look = 0; look < 2; ++look) cluster.turn(RemoveNode{node.description().id, "its loan is over"});
  node.replace_machine();
  cluster.pass(seconds(2), random);  // joins, so that what can never run is refused
}

void act(SimCluster& cluster, Random& random) {
  SimNode& node =
      cluster.nodes()[static_cast<std::size_t>(random.below(static_cast<int>(cluster.nodes().size())))];
  const int dice = random.below(100);
  if (dice < 20)
    submit(cluster, random);
  else if (dice < 26)
    cluster.turn(CancelJob{any_job(cluster.state(), random)});
  else if (dice < 32)
    operate(cluster, random);
  else if (dice < 40)
    node.fail_process(random);
  else if (dice < 50)
    disturb_node(node, random);
  else if (dice < 56)
    cluster.turn(CheckpointSaved{any_attempt(cluster.state(), random), random.between(1, 1000)});
  else if (dice < 62)
    random.chance(50) ? tell_rung(cluster, random) : scale(cluster, random);
  else if (dice < 65)
    cluster.restart_coordinator(seconds(random.between(0, 300)), random);
  else if (dice < 67)
    cluster.jump_clock(seconds(random.between(0, 7200)));
  else if (dice < 70)
    cluster.turn(node_operation(node.description().id, cluster.now(), random));
  else if (dice < 71)
    give_back(cluster, node, random);
  else if (dice < 74)
    cluster.pass(seconds(random.between(60, 150)), random);
  else
    cluster.pass(seconds(random.between(2, 10)), random);
}

// Whoever looks after nodes that the core has drained, or that report what nobody ordered and do not end it.
void repair_nodes(SimCluster& cluster) {
  for (SimNode& node : cluster.nodes()) {
    const Node* known = find_node(cluster.state(), node.description().id);
    if (!known || (!known->drain && known->strays == 0)) continue;
    if (node.has_stuck_process()) {
      node.lose_power();
      node.restart_agent();
    }
    cluster.turn(ResumeNode{node.description().id});
  }
}

// What an operator does after an older copy of the database was restored.
void settle_restored(SimCluster& cluster) {
  for (const SimNode& node : cluster.nodes()) {
    const Node* known = find_node(cluster.state(), node.description().id);
    if (known && !known->unknown.empty() && !known->adopted)
      cluster.turn(AdoptNode{known->description.id, true});
  }
  std::vector<JobId> held;
  for (const auto& [id, job] : cluster.state().jobs)
    if (!job.held_because.empty()) held.push_back(id);
  for (const JobId job : held) cluster.turn(ReleaseJob{job});
}

// A service ends where somebody stops it.
void stop_services(SimCluster& cluster) {
  std::vector<JobId> replicas;
  for (const auto& [id, job] : cluster.state().jobs)
    if (job.request.replica) replicas.push_back(id);
  for (const JobId replica : replicas) cluster.turn(CancelJob{replica});
}

// Everything works again: then every job must come to its end.
void drain(SimCluster& cluster, Random& random) {
  for (SimNode& node : cluster.nodes()) {
    node.connect(true);
    node.restart_agent();
    node.set_health("");
    node.occupy(false);
    cluster.turn(ResumeNode{node.description().id});
    cluster.turn(UnreserveNode{node.description().id});
    cluster.turn(LabelNode{node.description().id, {{"partition", "nlp"}}});
  }
  for (std::int64_t id = 1; id < cluster.state().next_job.value; ++id) cluster.turn(ReleaseJob{{id}});
  for (const char* account : kAccounts) cluster.turn(ChangeAccount{account, {}, {}, {{"cpu", std::nullopt}}});
  stop_services(cluster);
  for (int i = 0; i < 400 && !cluster.state().jobs.empty() && cluster.violation().empty(); ++i) {
    repair_nodes(cluster);
    settle_restored(cluster);
    cluster.pass(seconds(20), random);
  }
}

// What the histories went through together, so that a quiet generator cannot pass for a sound core.
struct Coverage {
  std::set<std::string> events;
  std::set<std::string> ends;
  int abandoned = 0, never_started = 0;  // tasks

  void add(const Events& log) {
    for (const Event& event : log) {
      events.emplace(type_of(event));
      if (const auto* stopping = std::get_if<AttemptStopping>(&event.body))
        never_started += stopping->cause == StopCause::not_started;
      if (const auto* lost = std::get_if<TaskLost>(&event.body)) {
        abandoned += lost->reason.find("did not end within") != std::string::npos;
      }
      if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) ends.emplace(to_string(ended->end));
    }
  }
};

SimCluster new_cluster(Random& random) {
  SimCluster cluster(random_nodes(random), random_scheduling(random));
  cluster.pass(seconds(2), random);  // all nodes join, so that what can never run is refused
  for (const char* account : kAccounts) cluster.turn(ChangeAccount{account, {}, {}, {}});
  return cluster;
}

void live(SimCluster& cluster, int acts, Random& random) {
  for (int i = 0; i < acts && cluster.violation().empty(); ++i) act(cluster, random);
}

void end_history(std::uint64_t seed, SimCluster& cluster, Random& random) {
  Random told = random;
  ASSERT_EQ(ledger_violation(cluster, told), "")
      << "seed " << seed << " amid its jobs" << cluster.last_events();
  drain(cluster, random);
  ASSERT_EQ(ledger_violation(cluster, told), "") << "seed " << seed << cluster.last_events();
  ASSERT_EQ(cluster.violation(), "") << "seed " << seed << cluster.last_events();
  ASSERT_TRUE(cluster.state().jobs.empty())
      << "seed " << seed << cluster.describe_jobs() << cluster.last_events();
}

void run_history(std::uint64_t seed, Coverage& coverage) {
  Random random(seed);
  SimCluster cluster = new_cluster(random);
  live(cluster, 40, random);
  end_history(seed, cluster, random);
  for (auto account = std::rbegin(kAccounts); account != std::rend(kAccounts); ++account)
    cluster.turn(DeleteAccount{*account});
  cluster.check_replay();
  coverage.add(cluster.log());
  ASSERT_EQ(cluster.violation(), "") << "seed " << seed << cluster.last_events();
}

// How many jobs were kept from running again.
void run_restored_history(std::uint64_t seed, int& held_back) {
  Random random(seed);
  SimCluster cluster = new_cluster(random);
  live(cluster, 20, random);
  const SimCluster copy = cluster;
  live(cluster, 20, random);
  ASSERT_EQ(cluster.violation(), "") << "seed " << seed << cluster.last_events();
  cluster.restore(copy, random);
  held_back += cluster.jobs_held_back();
  cluster.pass(seconds(2), random);  // the nodes report
  live(cluster, 10, random);
  end_history(seed, cluster, random);
}

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Histories, KeepEveryInvariantAndDrain) {
  Coverage coverage;
  const std::uint64_t only = number_from_environment("PODIUM_SIM_SEED", 0);
  if (only != 0) return run_history(only, coverage);
  const std::uint64_t histories = number_from_environment("PODIUM_SIM_HISTORIES", kQuick);
  for (std::uint64_t seed = 1; seed <= histories && !HasFatalFailure(); ++seed) run_history(seed, coverage);
  if (histories < kAll) return;  // a few may be quiet
  EXPECT_EQ(coverage.events.size(), std::variant_size_v<decltype(Event::body)> - 4)
      << "all but the three not durable and job_numbers_skipped, which takes a lost database: "
      << testing::PrintToString(coverage.events);
  EXPECT_GT(coverage.abandoned, 0);
  EXPECT_GT(coverage.never_started, 0);
  EXPECT_EQ(coverage.ends.size(), 8u)
      << "succeeded, failed, preempted, cancelled, node_lost, walltime, resized, paused";
}

TEST(Histories, OfARestoredDatabaseRunNothingAgainThatNodesKnowToHaveEnded) {
  int held_back = 0;
  const std::uint64_t only = number_from_environment("PODIUM_SIM_SEED", 0);
  if (only != 0) return run_restored_history(only, held_back);
  const std::uint64_t histories = number_from_environment("PODIUM_SIM_HISTORIES", kQuick);
  for (std::uint64_t seed = 1; seed <= histories && !HasFatalFailure(); ++seed)
    run_restored_history(seed, held_back);
  EXPECT_GT(held_back, 0);
}

}  // namespace
}  // namespace podium::sim
