#include "bench/agents/agents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto kAnswerTimeout = 30s;

NodeDescription describe(int number, int devices, const std::string& kind) {
  NodeDescription node;
  node.id.value = "node-" + std::to_string(number);
  node.address = "127.0.0.1";
  node.boot = "bench";
  for (int index = 0; index < devices; ++index) {
    Device device;
    device.index = index;
    device.kind = kind;
    device.threads = 1;
    node.devices.push_back(device);
  }
  return node;
}

}  // namespace

struct Agents::Agent {
  struct Task {
    TaskReport report;
    Steady::time_point ends;
  };

  Agent(asio::io_context& io, const Url& url, NodeDescription description)
      : node(std::move(description)), client(io.get_executor(), url), wake(io) {}

  NodeDescription node;
  HttpClient client;
  asio::steady_timer wake;  // when the next task ends: cancels the sync that is held
  std::map<TaskId, Task> tasks;
  std::int64_t orders_seen = 0;
  bool outdated = false;                    // the report that is on its way
  std::optional<Steady::time_point> ended;  // its last tasks; nothing was ordered since
};

Agents::Agents(asio::io_context& io, Url coordinator, std::string token, int count, int others, int devices,
               Duration run_time)
    : io_(io), token_(std::move(token)), run_time_(run_time) {
  for (int number = 1; number <= count + others; ++number)
    agents_.push_back(std::make_unique<Agent>(io_, coordinator,
                                              describe(number, devices, number <= count ? "cpu" : "gpu")));
}

Agents::~Agents() = default;

void Agents::start() {
  for (const auto& agent : agents_) spawn(io_.get_executor(), agent->node.id.value, run(*agent));
}

Duration Agents::run_time_of(JobId job) const {
  return run_time_ + Duration(job.value * 7919 % run_time_.count());
}

asio::awaitable<void> Agents::run(Agent& agent) {
  for (;;) {
    NodeReport report{agent.node, {}, agent.orders_seen};
    for (const auto& [id, task] : agent.tasks) report.tasks.push_back(task.report);
    HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/nodes/" + agent.node.id.value + "/sync";
    request.headers.set("Authorization", "Bearer " + token_);
    request.headers.set("Content-Type", "application/json");
    request.body = to_json(report).dump();
    agent.outdated = false;
    try {
      const HttpResponse answer = co_await agent.client.request(std::move(request), kAnswerTimeout);
      if (!answer.ok()) throw std::runtime_error("a sync was refused: " + answer.body);
      follow(agent, node_orders_from_json(nlohmann::json::parse(answer.body)));
    } catch (const NetError& error) {
      if (!agent.outdated) throw;
    }
  }
}

void Agents::follow(Agent& agent, const NodeOrders& orders) {
  const auto now = Steady::now();
  if (agent.orders_seen == 0) ++joined_;
  agent.orders_seen = orders.version;
  std::erase_if(agent.tasks, [&](const auto& entry) {
    return std::ranges::none_of(orders.tasks,
                                [&](const TaskOrder& o) { return o.launch.task == entry.first; });
  });
  for (const TaskOrder& order : orders.tasks) {
    const TaskId id = order.launch.task;
    if (!agent.tasks.contains(id)) {
      ordered_.emplace(id.attempt.job, now);
      if (const auto ended = std::exchange(agent.ended, std::nullopt))
        next_orders_.push_back(std::chrono::duration<double, std::milli>(now - *ended).count());
      agent.tasks[id] = {{id, TaskState::running, 1, {}}, now + run_time_of(id.attempt.job)};
    } else if (order.action == TaskAction::stop) {
      agent.tasks.at(id).ends = now;
    }
  }
  end_due(agent);
}

// Tells of the tasks whose time is over, and wakes up for the next.
void Agents::end_due(Agent& agent) {
  const auto now = Steady::now();
  auto next = Steady::time_point::max();
  bool ended = false;
  for (auto& [id, task] : agent.tasks) {
    if (task.report.exit) continue;
    if (task.ends > now) {
      next = std::min(next, task.ends);
      continue;
    }
    task.report.state = TaskState::exited;
    task.report.exit = TaskExit{};
    ended = true;
  }
  if (ended) {
    agent.ended = now;
    agent.outdated = true;
    agent.client.cancel();
  }
  if (next == Steady::time_point::max()) return;
  agent.wake.expires_at(next);
  agent.wake.async_wait([this, &agent](boost::system::error_code cancelled) {
    if (!cancelled) end_due(agent);
  });
}

}  // namespace podium
