// Services on the real core: replicas on a node that starts what it is told, and a gateway whose word is what
// the test says.
#pragma once

#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/serving/services.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {

class Services : public ClusterTest {
 protected:
  Services() { join(nodes_[0]); }

  void submit_service(int min, int max, const std::string& name = "answers", int priority = 50) {
    JobRequest request = request_for(1);
    request.replica = Replica{name, min, max, std::chrono::milliseconds(20)};
    request.walltime = kLongestWalltime;
    request.priority = priority;
    const auto answer =
        turn(SubmitExperiment{name, std::vector<JobRequest>(static_cast<std::size_t>(max), request)});
    ASSERT_TRUE(answer.ok()) << describe(answer.errors());
  }

  // One second: what has been told to stop leaves, what was ordered runs, and whoever runs is ready, but for
  // those in `slow_`.
  void second() {
    now_ += std::chrono::seconds(1);
    std::vector<Told> exits;
    for (const auto& [id, job] : state_.jobs)
      if (job.attempt && job.attempt->stop != StopCause::none && !stubborn_.contains(id) &&
          now_ - *job.attempt->stopping > drain_)
        exits.push_back({task(id, 0), {79, 0, "", ExitCause::ordered}});
    for (const NodeDescription& node : nodes_) report(node, exits);
    turn(Tick{});
    look();
    note_ready();
  }

  // What the controller decides for what is true now.
  void look() {
    done_.clear();
    for (const Command& command : steps(state_, health(), memory_, limits_, now_)) {
      EXPECT_TRUE(turn(command).ok());
      done_.push_back(text_of(command));
    }
    for (const std::string& text : done_) history_.push_back(text);
  }

  void pass(int count) {
    for (int i = 0; i < count; ++i) second();
  }

  ReplicasHealth health() const {
    ReplicasHealth health;
    for (const auto& [id, job] : state_.jobs) {
      if (job.state != JobState::running || job.attempt->stop != StopCause::none) continue;
      ReplicaHealth& of = health[job.attempt_id()];
      const auto silent = silent_since_.find(id);
      of.ready = !slow_.contains(id) && silent == silent_since_.end();
      if (silent != silent_since_.end()) of.silent = now_ - silent->second;
      of.queue_ms = queue_ms_;
    }
    return health;
  }

  static std::string text_of(const Command& command) {
    if (const auto* pause = std::get_if<PauseReplica>(&command)) return "pause " + to_string(pause->job);
    if (const auto* promote = std::get_if<PromoteReplica>(&command))
      return "promote " + to_string(promote->job);
    if (const auto* requeue = std::get_if<RequeueJob>(&command)) return "restart " + to_string(requeue->job);
    return "cancel " + to_string(std::get<CancelJob>(command).job);
  }

  // How many were ready at the least, since the test began to look.
  void note_ready() {
    int ready = 0;
    for (const auto& [attempt, health] : health()) ready += health.ready;
    fewest_ready_ = std::min(fewest_ready_, ready);
  }

  std::string states() {
    std::string text;
    for (const auto& [id, job] : state_.jobs)
      text += (text.empty() ? "" : " ") + to_string(id) + ":" +
              std::string(job.paused ? "paused" : to_string(job.state));
    return text;
  }

  // As after a restart of the coordinator: a state from the disk, and no memory.
  void restart_coordinator() {
    ClusterState empty;
    empty.limits = state_.limits;
    empty.scheduling = state_.scheduling;
    state_ = cluster_state_from_json(nlohmann::json::parse(to_json(state_).dump()), empty);
    memory_ = {};
    plan_ = {};
    turn(CoordinatorUp{});
    EXPECT_TRUE(steps(state_, {}, memory_, limits_, now_).empty()) << "before the gateway has told anything";
  }

  NodeId node_of(JobId id) { return job(id).attempt->allocation.ranks[0].node; }
  void fail(JobId id, TaskExit exit) {
    report(*std::ranges::find(nodes_, node_of(id), &NodeDescription::id), {{task(id, 0), std::move(exit)}});
  }
  // For good where no other node could hold it.
  void fail_to_load(JobId id) { fail(id, {65, 0, "no such model"}); }
  void join_another(int devices) {
    nodes_.push_back(node_with("node-" + std::to_string(nodes_.size() + 1), devices));
    join(nodes_.back());
  }
  ServiceStand service() {
    health_ = health();
    return services_of(state_, health_).at(0);
  }

  std::vector<NodeDescription> nodes_{node_with("node-1", 6)};
  ServiceMemory memory_;
  ServiceLimits limits_;
  ReplicasHealth health_;
  std::set<JobId> slow_, stubborn_;
  std::map<JobId, Time> silent_since_;
  Duration drain_{};      // how long one that is told to stop answers what it has accepted
  double queue_ms_ = 10;  // neither long nor short
  std::vector<std::string> done_, history_;
  int fewest_ready_ = 100;
};

}  // namespace podium
