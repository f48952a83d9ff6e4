// Sweeps that end their losing trials, in seeded histories with failures, lost nodes, late and repeated words
// and coordinators that are killed. Each decision is held to the rule by a reference of its own, which reads
// the log of events alone. A failure names its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/core/handle.h"
#include "coordinator/core/jobs/trials.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/why.h"
#include "tests/sim/random.h"

namespace podium::sim {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kHistories = 400;
constexpr double kNoNumber = 1e300;  // worse than all

// The rule by lists of numbers: who told what at which rung, in the order of the log.
class Reference {
 public:
  explicit Reference(const Asha& rule) : rule_(rule) {}

  void follow(const Event& event) {
    if (const auto* begun = std::get_if<SweepBegun>(&event.body))
      for (int i = 0; i < begun->trials; ++i) trials_[begun->first.value + i];
    if (const auto* reached = std::get_if<RungReached>(&event.body)) tell(*reached);
    if (const auto* paused = std::get_if<TrialPaused>(&event.body)) pause(*paused);
    if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) promote(*promoted);
    if (const auto* changed = std::get_if<JobStateChanged>(&event.body)) change(*changed);
  }

  // Between turns nothing is undecided.
  void look() {
    for (const auto& [job, trial] : trials_) {
      if (trial.ended || !trial.told.contains(trial.rung)) continue;
      if (!trial.paused) fail(job, "told at its rung, and nothing was decided");
      if (is_among_best(job, trial.rung)) fail(job, "is among the best of its rung and is paused");
    }
  }

  const std::string& fault() const { return fault_; }
  int promotions() const { return promotions_; }
  int last_calls() const { return last_calls_; }

 private:
  struct Known {
    int rung = 1;
    std::map<int, double> told;
    bool paused = false, ended = false, succeeded = false;
  };

  // Smaller is better.
  double score(double value) const { return rule_.goal == Goal::min ? value : -value; }

  bool is_among_best(std::int64_t job, int rung) const {
    const double own = trials_.at(job).told.at(rung);
    if (own == kNoNumber) return false;
    int told = 0, better = 0;
    for (const auto& [other, trial] : trials_) {
      if (trial.rung < rung || !trial.told.contains(rung)) continue;
      ++told;
      const double its = trial.told.at(rung);
      better += its < own || (its == own && other < job);
    }
    return better < told / rule_.reduction;
  }

  bool may_be_last_call(std::int64_t job, int rung) const {
    const double own = trials_.at(job).told.at(rung);
    for (const auto& [other, trial] : trials_) {
      if (trial.succeeded || (!trial.ended && !trial.paused)) return false;
      if (trial.ended || other == job || trial.told.at(trial.rung) == kNoNumber) continue;
      const double its = trial.told.at(trial.rung);
      if (trial.rung > rung) return false;
      if (trial.rung == rung && (its < own || (its == own && other < job))) return false;
    }
    return own != kNoNumber;
  }

  void tell(const RungReached& reached) {
    Known& trial = trials_.at(reached.job.value);
    const double value = reached.report.value ? score(*reached.report.value) : kNoNumber;
    if (!trial.told.emplace(reached.rung, value).second) fail(reached.job.value, "told twice at a rung");
  }
  void pause(const TrialPaused& paused) {
    Known& trial = trials_.at(paused.job.value);
    if (trial.rung != paused.rung || !trial.told.contains(paused.rung))
      return fail(paused.job.value, "was paused at a rung where it has told nothing");
    if (is_among_best(paused.job.value, paused.rung)) fail(paused.job.value, "was paused among the best");
    trial.paused = true;
  }
  void promote(const TrialPromoted& promoted) {
    const std::int64_t job = promoted.job.value;
    Known& trial = trials_.at(job);
    if (trial.ended || trial.rung != promoted.rung || !trial.told.contains(promoted.rung))
      return fail(job, "was promoted from a rung where it has told nothing");
    ++promotions_;
    if (!is_among_best(job, promoted.rung)) {
      ++last_calls_;
      if (!may_be_last_call(job, promoted.rung)) fail(job, "was promoted and is not among the best");
    }
    ++trial.rung;
    trial.paused = false;
  }
  void change(const JobStateChanged& changed) {
    const auto found = trials_.find(changed.job.value);
    if (found == trials_.end()) return;
    Known& trial = found->second;
    if (changed.to == JobState::stopped) stop(found->first);
    trial.ended = is_terminal(changed.to);
    trial.succeeded = changed.to == JobState::succeeded;
  }
  // Only a sweep that has its winner, or nobody who could be one, ends those that are paused.
  void stop(std::int64_t job) {
    if (!trials_.at(job).paused) fail(job, "was stopped while it was not paused");
    const bool won = std::ranges::any_of(trials_, [](const auto& t) { return t.second.succeeded; });
    for (const auto& [other, trial] : trials_) {
      if (!trial.ended && !trial.paused) fail(job, "was stopped while another trained");
      if (!won && !trial.ended && trial.told.at(trial.rung) != kNoNumber)
        fail(job, "was stopped while nobody has won and another could");
    }
  }
  void fail(std::int64_t job, const std::string& what) {
    if (fault_.empty()) fault_ = "trial " + std::to_string(job) + " " + what;
  }

  const Asha rule_;
  std::map<std::int64_t, Known> trials_;
  std::string fault_;
  int promotions_ = 0, last_calls_ = 0;
};

// What a trial would reach, and how far it is.
struct Truth {
  double quality = 0;
  bool silent = false, diverges = false, breaks = false;
  std::int64_t step = 0, saved = 0, most = 0;
};

struct Machine {
  NodeDescription description;
  bool silent = false;
  std::map<TaskId, TaskReport> tasks;
};

NodeDescription machine(int number, int devices) {
  NodeDescription node{
      {"node-" + std::to_string(number)}, "10.0.0." + std::to_string(number), "0.1.0", "boot-1", {}, {}};
  for (int i = 0; i < devices; ++i) {
    Device device;
    device.index = i;
    device.kind = "cpu";
    node.devices.push_back(device);
  }
  return node;
}

class World {
 public:
  World(Random& random, const Asha& rule) : random_(random), rule_(rule), reference_(rule) {
    const int machines = random.between(1, 3);
    for (int n = 1; n <= machines; ++n) machines_.push_back({machine(n, random.between(1, 3)), false, {}});
    turn(CoordinatorUp{});
    for (const Machine& each : machines_) turn(NodeReported{{each.description, {}, 0}});
  }

  void submit(int trials) {
    JobRequest request;
    request.name = "trial";
    request.kind = "cpu";
    SubmitExperiment sweep{"sweep", std::vector(static_cast<std::size_t>(trials), request)};
    sweep.asha = rule_;
    ASSERT_TRUE(turn(sweep).ok());
    for (int id = 1; id <= trials; ++id) {
      Truth& truth = truth_[{id}];
      truth.quality = random_.between(0, 20) / 4.0;  // some are alike
      truth.silent = random_.chance(5);
      truth.diverges = random_.chance(5);
      truth.breaks = random_.chance(5);
    }
  }

  void pass() {
    now_ += seconds(2);
    for (Machine& each : machines_) live(each);
    for (std::size_t i = 0; i < late_.size();) {
      if (random_.chance(60)) {
        ++i;
        continue;
      }
      const RungTold told = late_[i];
      if (!random_.chance(10))
        late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));  // else it comes again
      turn(told);
    }
    turn(Tick{});
    for (const Machine& each : machines_)  // somebody looks after those that did not end a task in time
      if (state_.nodes.at(each.description.id).drain) turn(ResumeNode{each.description.id});
    reference_.look();
  }

  // Lost with what was not on disk: nothing, for a turn is on disk before anybody hears of it.
  void kill_coordinator() {
    ClusterState replayed;
    if (random_.chance(50)) {
      apply_all(replayed, log_);
    } else {
      replayed = cluster_state_from_json(to_json(state_), ClusterState{});
    }
    if (to_json(replayed) != to_json(state_)) fault_ = "replaying the log gives another state";
    for (const RungTold& told : late_) {
      const auto before = handle(state_, told, now_), after = handle(replayed, told, now_);
      if (*before != *after) fault_ = "a replayed coordinator decides otherwise";
    }
    state_ = std::move(replayed);
    plan_ = {};
    turn(CoordinatorUp{});
  }

  void disturb() {
    Machine& one = machines_[static_cast<std::size_t>(random_.below(static_cast<int>(machines_.size())))];
    one.silent = !one.silent;
    if (!one.silent) lose_strangers(one);
  }
  void calm() {
    for (Machine& each : machines_) {
      if (each.silent) lose_strangers(each);
      each.silent = false;
    }
  }
  void cancel_one() { turn(CancelJob{{random_.between(1, static_cast<int>(truth_.size()))}}); }

  bool over() const { return state_.jobs.empty(); }
  std::string describe() const {
    std::string text;
    for (const auto& [id, job] : state_.jobs)
      text += "\njob " + to_string(id) + " is " + std::string(to_string(job.state)) + " " +
              waiting_reason(state_, plan_, Foremost(state_, plan_, now_), id);
    return text;
  }
  std::string fault() const { return fault_.empty() ? reference_.fault() : fault_; }
  const Reference& reference() const { return reference_; }
  const ClusterState& state() const { return state_; }
  const std::map<JobId, JobState>& ends() const { return ends_; }
  const std::map<JobId, Truth>& truth() const { return truth_; }

 private:
  Result<Events> turn(const Command& command) {
    auto events = handle(state_, command, now_);
    if (events) absorb(*events);
    plan_ = make_plan(state_, now_);
    absorb(enact(state_, plan_, now_));
    return events;
  }
  void absorb(const Events& events) {
    for (const Event& event : events) {
      reference_.follow(event);
      if (const auto* changed = std::get_if<JobStateChanged>(&event.body);
          changed && is_terminal(changed->to))
        ends_[changed->job] = changed->to;
      if (is_durable(event)) log_.push_back(event);
      apply(state_, event);
    }
  }

  // An agent that was away longer than its lease has ended what it ran.
  void lose_strangers(Machine& one) {
    const Node* node = find_node(state_, one.description.id);
    if (node && node->state == NodeState::lost) one.tasks.clear();
  }

  void live(Machine& one) {
    if (one.silent) return;
    const NodeOrders orders = node_orders(state_, one.description.id);
    std::map<TaskId, TaskReport> tasks;
    for (const TaskOrder& order : orders.tasks) {
      const TaskId id = order.launch.task;
      const auto known = one.tasks.find(id);
      if (known != one.tasks.end())
        tasks[id] = known->second;
      else if (order.action == TaskAction::start)
        tasks[id] = begin(id);
      else
        continue;
      if (order.action == TaskAction::stop) stop(tasks[id]);
      train(tasks[id]);
    }
    one.tasks = std::move(tasks);
    NodeReport report{one.description, {}, orders.version};
    for (const auto& [id, task] : one.tasks) report.tasks.push_back(task);
    turn(NodeReported{report});
  }

  TaskReport begin(TaskId id) {
    Truth& truth = truth_.at(id.attempt.job);
    truth.step = truth.saved;
    return {id, TaskState::running, 1, {}};
  }
  void stop(TaskReport& task) {
    if (task.state == TaskState::exited || random_.chance(30)) return;
    Truth& truth = truth_.at(task.task.attempt.job);
    truth.saved = truth.step;
    task.state = TaskState::exited;
    task.exit = TaskExit{79, 0, "", ExitCause::ordered};
  }
  void train(TaskReport& task) {
    if (task.state == TaskState::exited) return;
    const JobId id = task.task.attempt.job;
    Truth& truth = truth_.at(id);
    const std::int64_t before = truth.step;
    truth.step = std::min(truth.step + random_.between(5, 60), rule_.max_steps);
    truth.most = std::max(truth.most, truth.step);
    if (truth.step / 50 > before / 50) truth.saved = truth.step / 50 * 50;
    if (truth.breaks && random_.chance(5)) {
      task.state = TaskState::exited;
      task.exit = TaskExit{1, 0, "simulated"};
      return;
    }
    const std::vector<std::int64_t> steps = rung_steps(rule_);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (before < steps[i] && steps[i] <= truth.step && !truth.silent)
        late_.push_back(
            {id, static_cast<int>(i) + 1, steps[i],
             truth.diverges ? std::nan("") : truth.quality + 10.0 / static_cast<double>(steps[i])});
    if (truth.step < rule_.max_steps) return;
    task.state = TaskState::exited;
    task.exit = TaskExit{};
  }

  Random& random_;
  const Asha rule_;
  Reference reference_;
  ClusterState state_;
  Plan plan_;
  Time now_ = from_millis(1'700'000'000'000);
  std::vector<Machine> machines_;
  std::map<JobId, Truth> truth_;
  std::vector<RungTold> late_;  // that agents have not delivered yet
  std::map<JobId, JobState> ends_;
  Events log_;
  std::string fault_;
};

struct Seen {
  int promotions = 0, last_calls = 0, stopped = 0, winners = 0;
};

void run_history(std::uint64_t seed, Seen& seen) {
  Random random(seed);
  const Asha rule{"eval/loss", random.chance(50) ? Goal::min : Goal::max, random.between(20, 60),
                  random.between(100, 900), random.between(2, 4)};
  World world(random, rule);
  world.submit(random.between(2, 24));
  for (int i = 0; i < 600 && !world.over() && world.fault().empty(); ++i) {
    const int dice = random.below(100);
    if (dice < 3) world.kill_coordinator();
    if (dice == 3) world.disturb();
    if (dice == 4 && random.chance(20)) world.cancel_one();
    world.pass();
  }
  world.calm();
  for (int i = 0; i < 2000 && !world.over() && world.fault().empty(); ++i) world.pass();
  ASSERT_EQ(world.fault(), "") << "seed " << seed;
  ASSERT_TRUE(world.over()) << "seed " << seed << ": a trial has not ended" << world.describe();
  EXPECT_TRUE(world.state().sweeps.empty()) << "seed " << seed;
  bool could_win = false, won = false;
  for (const auto& [job, end] : world.ends()) {
    const Truth& truth = world.truth().at(job);
    if (end == JobState::succeeded) {
      EXPECT_EQ(truth.most, rule.max_steps) << "seed " << seed;
    }
    won |= end == JobState::succeeded;
    could_win |= end == JobState::stopped && !truth.diverges;
    seen.stopped += end == JobState::stopped;
    seen.winners += end == JobState::succeeded;
  }
  EXPECT_TRUE(won || !could_win) << "seed " << seed
                                 << ": trials were stopped, and none was trained to its end";
  seen.promotions += world.reference().promotions();
  seen.last_calls += world.reference().last_calls();
}

TEST(Asha, DecidesByTheRuleInEveryHistory) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= kHistories && !HasFatalFailure(); ++seed) run_history(seed, seen);
  EXPECT_GT(seen.promotions, 1000);
  EXPECT_GT(seen.last_calls, 50);
  EXPECT_GT(seen.stopped, 1000);
  EXPECT_GT(seen.winners, 400);
}

}  // namespace
}  // namespace podium::sim
