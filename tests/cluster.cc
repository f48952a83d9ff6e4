#include "tests/cluster.h"

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "common/base/file.h"
#include "common/net/http_client.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kUserToken = "user-token-of-this-test";
constexpr const char* kAgentToken = "agent-token-of-this-test";

HttpRequest user_post(const std::string& path, const json& body) {
  return {.method = "POST",
          .target = "/api/v1" + path,
          .headers = {{"Authorization", std::string("Bearer ") + kUserToken},
                      {"Content-Type", "application/json"}},
          .body = body.dump()};
}

// Of this process's clusters alone: every coordinator gives the same ports, and tests run beside each other.
// A pid has 22 bits at most.
std::string own_address() {
  const int pid = ::getpid();
  return "127." + std::to_string(1 + pid / 65536) + "." + std::to_string(pid / 256 % 256) + "." +
         std::to_string(pid % 256);
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    try {
      if (read_file(entry.path() / "cmdline").find(text) != std::string::npos)
        found.push_back(std::stoi(name));
    } catch (const std::system_error&) {
      // The process ended between the listing and the look.
    }
  }
  return found;
}

Cluster::Cluster(int nodes, int slots_per_node, std::vector<std::string> coordinator_options)
    : slots_per_node_(slots_per_node), coordinator_options_(std::move(coordinator_options)) {
  std::filesystem::create_directory(data());
  write_file_atomic(folder() / "user.token", kUserToken);
  write_file_atomic(folder() / "agent.token", kAgentToken);
  start_coordinator();
  for (int node = 1; node <= nodes; ++node) start_agent(node);
  wait_until("the agents to join", [&] { return get("/health")["nodes"].value("up", 0) == nodes; });
}

Cluster::~Cluster() {
  agents_.clear();
  coordinator_.reset();
  for (const pid_t pid : processes_with(folder().string() + "/")) ::kill(pid, SIGKILL);
}

std::filesystem::path Cluster::checkpoints(JobId job) const {
  const std::string cluster = get("/health").at("cluster");
  return folder() / "shared" / cluster / "jobs" / to_string(job) / "checkpoints";
}

std::filesystem::path Cluster::task_folder(int node, TaskId task) const {
  return folder() / ("node-" + std::to_string(node)) / "jobs" / to_string(task.attempt.job) /
         std::to_string(task.attempt.number) / std::to_string(task.rank);
}

void Cluster::start_coordinator() {
  const auto home = folder() / "coordinator";
  std::filesystem::remove(home / "coordinator.address");
  std::vector<std::string> command{test::program_path("podium-coordinator"),
                                   "--home",
                                   home,
                                   "--listen",
                                   "127.0.0.1:" + std::to_string(port_),
                                   "--user-token-file",
                                   folder() / "user.token",
                                   "--agent-token-file",
                                   folder() / "agent.token"};
  command.insert(command.end(), coordinator_options_.begin(), coordinator_options_.end());
  coordinator_ = std::make_unique<Child>(command, folder() / "coordinator.log");
  wait_until("the coordinator to listen",
             [&] { return std::filesystem::exists(home / "coordinator.address"); });
  const std::string address = read_file(home / "coordinator.address");
  port_ = std::stoi(address.substr(address.rfind(':') + 1));
}

std::vector<std::string> Cluster::agent_command(int node, const std::filesystem::path& home) const {
  return {test::program_path("podium-agent"),
          "--name",
          "node-" + std::to_string(node),
          "--address",
          own_address(),
          "--coordinator",
          "http://127.0.0.1:" + std::to_string(port_),
          "--token-file",
          folder() / "agent.token",
          "--home",
          home,
          "--shared",
          folder() / "shared",
          "--data",
          data(),
          "--cpu-slots",
          std::to_string(slots_per_node_),
          "--threads-per-slot",
          "1"};
}

void Cluster::start_agent(int node, const std::vector<std::string>& more) {
  const std::string name = "node-" + std::to_string(node);
  std::vector<std::string> command = agent_command(node, folder() / name);
  command.insert(command.end(), more.begin(), more.end());
  auto agent = std::make_unique<Child>(command, folder() / (name + ".log"));
  const auto at = static_cast<std::size_t>(node - 1);
  if (at == agents_.size())
    agents_.push_back(std::move(agent));
  else
    agents_.at(at) = std::move(agent);
}

Url Cluster::server() const { return *parse_url("http://127.0.0.1:" + std::to_string(port_)); }

json Cluster::get(const std::string& path) const {
  const HttpResponse response = fetch(server(), {.target = "/api/v1" + path}, 10s);
  if (!response.ok())
    throw std::runtime_error("GET " + path + ": " + std::to_string(response.status) + " " + response.body);
  return json::parse(response.body);
}

json Cluster::post(const std::string& path, const json& body) const {
  const HttpResponse response = fetch(server(), user_post(path, body), 10s);
  if (!response.ok()) throw std::runtime_error("POST " + path + ": " + response.body);
  return json::parse(response.body);
}

JobId Cluster::submit(const std::string& yaml) const {
  const json reply = post("/experiments", {{"spec", yaml}, {"file", "test.yaml"}});
  return {reply.at("jobs").at(0).at("id").get<std::int64_t>()};
}

void Cluster::submit_all(int count, const std::function<std::string(int)>& yaml) const {
  boost::asio::io_context context;
  HttpClient client(context.get_executor(), server());
  const auto submit_each = [&]() -> boost::asio::awaitable<void> {
    for (int i = 0; i < count; ++i) {
      const json body{{"spec", yaml(i)}, {"file", "test.yaml"}};
      const HttpResponse response = co_await client.request(user_post("/experiments", body), 30s);
      if (response.status != 201) throw std::runtime_error("submit: " + response.body);
    }
  };
  boost::asio::co_spawn(context, submit_each, [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  context.run();
}

void Cluster::post_streams(const std::string& node, const std::string& body) const {
  const HttpResponse response = fetch(server(),
                                      {.method = "POST",
                                       .target = "/api/v1/nodes/" + node + "/streams",
                                       .headers = {{"Authorization", std::string("Bearer ") + kAgentToken},
                                                   {"Content-Type", "application/x-podium-streams"}},
                                       .body = body},
                                      30s);
  if (!response.ok()) throw std::runtime_error("POST streams: " + response.body);
}

void Cluster::cancel(JobId job) const { post("/jobs/" + to_string(job) + "/cancel", json::object()); }

void Cluster::requeue(JobId job) const { post("/jobs/" + to_string(job) + "/requeue", json::object()); }

json Cluster::wait_for(JobId job, const std::function<bool(const json&)>& done) const {
  json seen;
  wait_until("job " + to_string(job), [&] {
    seen = get("/jobs/" + to_string(job));
    if (done(seen)) return true;
    const std::string state = seen.at("state");
    if (state == "succeeded" || state == "failed" || state == "cancelled" || state == "stopped")
      throw std::runtime_error("job " + to_string(job) + " ended too early: " + seen.dump(1));
    return false;
  });
  return seen;
}

json Cluster::wait_for_state(JobId job, const std::string& state) const {
  return wait_for(job, [&](const json& seen) { return seen.at("state") == state; });
}

void Cluster::wait_until(const std::string& what, const std::function<bool()>& done) const {
  const auto deadline = std::chrono::steady_clock::now() + 2min;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("waited two minutes for " + what + "; the logs are:\n" +
                               read_file(folder() / "coordinator.log"));
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace podium
