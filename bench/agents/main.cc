// bench_agents: one real coordinator and 2,000 agents of 8 devices that speak the real sync protocol from one
// process, on this machine. Prints one JSON object a figure; bench/run makes the table.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/agents/agents.h"
#include "bench/figure.h"
#include "common/base/file.h"
#include "tests/child.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;
using namespace std::chrono_literals;
using Steady = Agents::Steady;

constexpr int kAgents = 2000;
constexpr int kDevices = 8;    // of each
constexpr int kSingles = 200;  // submitted one after the other to the empty cluster
constexpr int kQueued = 1000;  // that wait when every device is taken
constexpr Duration kRunTime = 20s;
constexpr auto kWindow = 10s;  // over which processor time is counted
constexpr const char* kUserToken = "user-token-of-this-benchmark";
constexpr const char* kAgentToken = "agent-token-of-this-benchmark";

// Each agent keeps a connection, and the coordinator the other end of it.
void raise_file_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2 * kAgents)
    throw std::runtime_error("a process may open " + std::to_string(limit.rlim_cur) +
                             " files here; raise the limit to " + std::to_string(2 * kAgents) +
                             " (ulimit -n)");
}

double cpu_seconds(pid_t pid) {
  std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class Benchmark {
 public:
  Benchmark()
      : coordinator_({PODIUM_BIN_DIR "/podium-coordinator", "--home", folder_.path() / "home", "--listen",
                      "127.0.0.1:0", "--user-token-file", token("user.token", kUserToken),
                      "--agent-token-file", token("agent.token", kAgentToken)},
                     folder_.path() / "log"),
        url_(*parse_url(address())),
        agents_(io_, url_, kAgentToken, kAgents, kDevices, kRunTime),
        client_(io_.get_executor(), url_) {}

  void run() {
    asio::co_spawn(io_, measure(), [this](std::exception_ptr failure) {
      io_.stop();
      if (failure) std::rethrow_exception(failure);
    });
    io_.run();
  }

 private:
  std::string token(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
    return folder_.path() / name;
  }

  std::string address() {
    const auto file = folder_.path() / "home" / "coordinator.address";
    while (!std::filesystem::exists(file)) {
      if (!coordinator_.running()) throw std::runtime_error(read_file(folder_.path() / "log"));
      ::usleep(20'000);
    }
    std::string text = read_file(file);
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
  }

  awaitable<void> pause(Duration duration) {
    asio::steady_timer timer(io_, duration);
    co_await timer.async_wait(asio::use_awaitable);
  }

  awaitable<JobId> submit(int devices) {
    const std::string spec =
        "version: 1\nname: bench\ncommand: [\"true\"]\nresources: {devices: " + std::to_string(devices) +
        ", per_node: " + std::to_string(devices) + ", kind: cpu}\n";
    HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/experiments";
    request.headers.set("Authorization", std::string("Bearer ") + kUserToken);
    request.headers.set("Content-Type", "application/json");
    const json body{{"spec", spec}, {"file", "bench.yaml"}};
    request.body = body.dump();
    const HttpResponse answer = co_await client_.request(std::move(request), 60s);
    if (answer.status != 201) throw std::runtime_error("submit: " + answer.body);
    co_return JobId{json::parse(answer.body).at("jobs").at(0).at("id").get<std::int64_t>()};
  }

  awaitable<void> measure() {
    const auto start = Steady::now();
    agents_.start();
    while (agents_.joined() < kAgents) co_await pause(20ms);
    print({.name = "2,000 agents join",
           .value = std::chrono::duration<double>(Steady::now() - start).count(),
           .unit = "s",
           .higher_is_better = false});
    co_await measure_singles();
    const int full = kAgents - kSingles / kDevices;  // the singles fill some nodes
    for (int i = 0; i < full + kQueued; ++i) co_await submit(kDevices);
    co_await measure_load();
  }

  awaitable<void> measure_singles() {
    std::vector<double> latencies;
    for (int i = 0; i < kSingles; ++i) {
      const auto start = Steady::now();
      const JobId job = co_await submit(1);
      while (!agents_.ordered().contains(job)) co_await pause(1ms);
      latencies.push_back(
          std::chrono::duration<double, std::milli>(agents_.ordered().at(job) - start).count());
    }
    print_latency("submit to the order at the agent", latencies);
  }

  awaitable<void> measure_load() {
    const double ours = cpu_seconds(::getpid()), theirs = cpu_seconds(coordinator_.pid());
    const auto start = Steady::now();
    co_await pause(kWindow);
    const double window = std::chrono::duration<double>(Steady::now() - start).count();
    print({.name = "coordinator's share of a core, jobs running",
           .value = 100 * (cpu_seconds(coordinator_.pid()) - theirs) / window,
           .unit = "%",
           .peer = "the 2,000 agents themselves",
           .peer_value = 100 * (cpu_seconds(::getpid()) - ours) / window,
           .higher_is_better = false,
           .goal = 60});
    print({.name = "coordinator resident, 2,000 agents",
           .value = resident_bytes(coordinator_.pid()) / 1e6,
           .unit = "MB",
           .higher_is_better = false});
  }

  void print_latency(const std::string& name, const std::vector<double>& latencies) {
    print({.name = name + ", median", .value = median(latencies), .unit = "ms", .higher_is_better = false});
    print({.name = name + ", p99",
           .value = quantile(latencies, 0.99),
           .unit = "ms",
           .higher_is_better = false,
           .goal = 100});
  }

  TempFolder folder_;
  asio::io_context io_{1};
  Child coordinator_;
  Url url_;
  Agents agents_;
  HttpClient client_;
};

}  // namespace
}  // namespace podium

int main() try {
  podium::raise_file_limit();
  podium::Benchmark().run();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_agents: %s\n", error.what());
  return 1;
}
