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
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;
using namespace std::chrono_literals;
using Steady = Agents::Steady;

constexpr int kAgents = 2000;
constexpr int kOthers = 100;   // of these, with devices of another kind, which the load leaves free
constexpr int kDevices = 8;    // of each
constexpr int kSingles = 200;  // jobs of one device, submitted one after the other
constexpr int kQueued = 500;   // jobs of a whole node that wait at any time for one
constexpr int kSubmitters = 8;
constexpr Duration kRunTime = 30s;
constexpr auto kWindow = 30s;  // over which latencies and processor time are taken
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
      : coordinator_({test::program_path("podium-coordinator"), "--home", folder_.path() / "home", "--listen",
                      "127.0.0.1:0", "--user-token-file", token("user.token", kUserToken),
                      "--agent-token-file", token("agent.token", kAgentToken)},
                     folder_.path() / "log"),
        url_(*parse_url(address())),
        agents_(io_, url_, kAgentToken, kAgents - kOthers, kOthers, kDevices, kRunTime),
        client_(io_.get_executor(), url_) {}

  void run() {
    start([](Benchmark& self) -> awaitable<void> {
      co_await self.measure();
      self.io_.stop();
    }(*this));
    io_.run();
  }

 private:
  void start(awaitable<void> work) {
    asio::co_spawn(io_, std::move(work), [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
    });
  }

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

  static awaitable<JobId> submit(HttpClient& client, int devices, const std::string& kind) {
    const std::string spec =
        "version: 1\nname: bench\ncommand: [\"true\"]\nresources: {devices: " + std::to_string(devices) +
        ", per_node: " + std::to_string(devices) + ", kind: " + kind + "}\n";
    HttpRequest request;
    request.method = "POST";
    request.target = "/api/v1/experiments";
    request.headers.set("Authorization", std::string("Bearer ") + kUserToken);
    request.headers.set("Content-Type", "application/json");
    const json body{{"spec", spec}, {"file", "bench.yaml"}};
    request.body = body.dump();
    const HttpResponse answer = co_await client.request(std::move(request), 60s);
    if (answer.status != 201) throw std::runtime_error("submit: " + answer.body);
    co_return JobId{json::parse(answer.body).at("jobs").at(0).at("id").get<std::int64_t>()};
  }

  awaitable<void> measure() {
    const auto began = Steady::now();
    agents_.start();
    while (agents_.joined() < kAgents) co_await pause(20ms);
    print({.name = "2,000 agents join",
           .value = std::chrono::duration<double>(Steady::now() - began).count(),
           .unit = "s",
           .higher_is_better = false});
    print_latency("submit to the order at the agent, nothing else running", co_await measure_singles());
    for (int i = 0; i < kSubmitters; ++i) start(keep_loaded());
    while (waiting() < kQueued || agents_.next_orders().empty()) co_await pause(100ms);
    co_await measure_load();
  }

  // Every device of the kind cpu is taken and a queue waits for the next that comes free.
  awaitable<void> keep_loaded() {
    HttpClient client(io_.get_executor(), url_);
    for (;;) {
      while (waiting() >= kQueued) co_await pause(10ms);
      ++submitted_;
      co_await submit(client, kDevices, "cpu");
    }
  }

  // Of the jobs that keep the cluster loaded.
  std::int64_t waiting() const {
    return submitted_ - (kAgents - kOthers) - std::ssize(agents_.next_orders());
  }

  // Jobs of one device on the nodes that the load leaves free.
  awaitable<std::vector<double>> measure_singles() {
    std::vector<double> latencies;
    for (int i = 0; i < kSingles; ++i) {
      const auto start = Steady::now();
      const JobId job = co_await submit(client_, 1, "gpu");
      while (!agents_.ordered().contains(job)) co_await pause(1ms);
      latencies.push_back(
          std::chrono::duration<double, std::milli>(agents_.ordered().at(job) - start).count());
    }
    co_return latencies;
  }

  awaitable<void> measure_load() {
    const double ours = cpu_seconds(::getpid()), theirs = cpu_seconds(coordinator_.pid());
    const auto start = Steady::now();
    const std::size_t before = agents_.next_orders().size();
    const std::vector<double> singles = co_await measure_singles();
    while (Steady::now() < start + kWindow) {
      if (waiting() <= kSubmitters)
        throw std::runtime_error("the queue drained: this machine is too slow to submit as fast as jobs end");
      co_await pause(10ms);
    }
    const double window = std::chrono::duration<double>(Steady::now() - start).count();
    const auto& all = agents_.next_orders();
    const std::vector<double> next(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
    print({.name = "jobs that ended and were followed by the next, while measured",
           .value = static_cast<double>(next.size()) / window,
           .unit = "jobs/s"});
    print_latency("submit to the order at the agent, under load", singles);
    print_latency("end of a node's tasks to the order of its next", next);
    print({.name = "coordinator's share of a core, under load",
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
  std::int64_t submitted_ = 0;  // to keep the cluster loaded
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
