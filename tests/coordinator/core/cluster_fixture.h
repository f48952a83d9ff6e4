// A cluster at the tip of a test's fingers: turns as the loop takes them, reports as agents send them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/handle.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/why.h"

namespace podium {

inline NodeDescription node_with(const std::string& id, int devices, const std::string& kind = "cpu") {
  NodeDescription node{{id}, id + ".local", "0.1.0", "boot-1", {}, {}};
  for (int i = 0; i < devices; ++i) {
    Device device;
    device.index = i;
    device.kind = kind;
    node.devices.push_back(device);
  }
  return node;
}

inline JobRequest request_for(int devices, int per_node = 0, const std::string& kind = "cpu") {
  JobRequest request;
  request.name = "job";
  request.devices = devices;
  request.per_node = per_node;
  request.kind = kind;
  return request;
}

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() { turn(CoordinatorUp{}); }

  // What the turn decided, or its refusal.
  Result<Events> turn(const Command& command) {
    auto events = handle(state_, command, now_);
    if (events) apply_all(state_, *events);
    plan_ = make_plan(state_, now_);
    apply_all(state_, enact(state_, plan_, now_));
    return events;
  }

  void join(const NodeDescription& node) { turn(NodeReported{{node, {}, 0}}); }

  JobId submit(const JobRequest& request) {
    const JobId id = state_.next_job;
    apply_all(state_, missing_accounts(state_, request.account, now_));
    const auto answer = turn(SubmitExperiment{"test", {request}});
    EXPECT_TRUE(answer.ok()) << describe(answer.errors());
    return id;
  }

  // Seconds of regular ticks.
  void wait(int seconds) {
    for (int i = 0; i < seconds; i += 5) {
      now_ += std::chrono::seconds(std::min(5, seconds - i));
      turn(Tick{});
    }
  }

  // The node reports its tasks as ordered and running, but for those named.
  struct Told {
    TaskId task;
    TaskExit exit;
  };
  void report(const NodeDescription& node, const std::vector<Told>& exited = {}) {
    const NodeOrders orders = node_orders(state_, node.id);
    NodeReport report{node, {}, orders.version};
    for (const TaskOrder& order : orders.tasks) {
      const TaskId task = order.launch.task;
      const auto told = std::ranges::find(exited, task, &Told::task);
      if (told == exited.end())
        report.tasks.push_back({task, TaskState::running, 1, {}});
      else
        report.tasks.push_back({task, TaskState::exited, 1, told->exit});
    }
    turn(NodeReported{report});
  }

  const Job& job(JobId id) { return state_.jobs.at(id); }
  JobState state_of(JobId id) { return job(id).state; }
  TaskId task(JobId id, int rank) { return {job(id).attempt_id(), rank}; }
  std::string reason(JobId id) { return waiting_reason(state_, plan_, Foremost(state_, plan_, now_), id); }

  template <class Body>
  static const Body* find(const Result<Events>& events) {
    for (const Event& event : *events)
      if (const auto* body = std::get_if<Body>(&event.body)) return body;
    return nullptr;
  }

  ClusterState state_;
  Plan plan_;
  Time now_ = from_millis(1'700'000'000'000);
};

}  // namespace podium
