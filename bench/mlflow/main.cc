// bench_mlflow [batches|metrics|history|search ...]: MLflow's REST of a real coordinator, over kept
// connections, on this machine's disk. The peer's figures are those that MLflow 2.12's server with SQLite
// reaches on a machine of this kind.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "bench/figure.h"
#include "bench/mlflow/load.h"
#include "common/base/file.h"
#include "tests/cluster.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr const char* kPeer = "MLflow 2.12, given";
constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr int kRounds = 5;

class Bench {
 public:
  Bench() : token_(read_file(cluster_.folder() / "user.token")) {}

  const Url server() const { return cluster_.server(); }

  std::string post_text(const std::string& path, const std::string& body) const {
    return http_request("POST", "/api/2.0/mlflow/" + path, body, token_);
  }
  std::string post_text(const std::string& path, const json& body) const {
    return post_text(path, body.dump());
  }
  std::string get_text(const std::string& path) const {
    return http_request("GET", "/api/2.0/mlflow/" + path, "", token_);
  }
  json post(const std::string& path, const json& body) const {
    return json::parse(ask(server(), post_text(path, body)).answer.body);
  }
  std::string start_run(const std::string& experiment = "0") const {
    return post("runs/create", {{"experiment_id", experiment}, {"start_time", kNow}})
        .at("run")
        .at("info")
        .at("run_id");
  }
  std::vector<std::string> start_runs(int count) const {
    std::vector<std::string> runs;
    for (int i = 0; i < count; ++i) runs.push_back(start_run());
    return runs;
  }

 private:
  Cluster cluster_{0};
  std::string token_;
};

json metric(const std::string& key, int step) {
  return {{"key", key}, {"value", 3.25 + 0.001 * step}, {"timestamp", kNow + step}, {"step", step}};
}

// A thousand points, a hundred steps of ten metrics.
std::string batch(const Bench& bench, const std::string& run, int number) {
  json metrics = json::array();
  for (int step = 0; step < 100; ++step)
    for (int key = 0; key < 10; ++key)
      metrics.push_back(metric(fmt::format("train/metric_{}", key), 100 * number + step));
  return bench.post_text("runs/log-batch", {{"run_id", run}, {"metrics", metrics}});
}

Figure measure_batches(const Bench& bench) {
  constexpr int kClients = 4, kBatches = 100;
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<std::string>> requests;
    for (const std::string& run : bench.start_runs(kClients)) {
      std::vector<std::string>& of_client = requests.emplace_back();
      for (int i = 0; i < kBatches; ++i) of_client.push_back(batch(bench, run, i));
    }
    const auto request_of = [&](int client, int n) -> const std::string& {
      return requests[static_cast<std::size_t>(client)][static_cast<std::size_t>(n)];
    };
    rates.push_back(1000.0 * kClients * kBatches / ask_all(bench.server(), kClients, kBatches, request_of));
  }
  return {"MLflow log-batch, batches of 1000", median(rates), "points/s", kPeer, 28'000, true, 280'000};
}

Figure measure_single(const Bench& bench) {
  constexpr int kClients = 256, kEach = 400;
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::string> runs = bench.start_runs(kClients);
    std::vector<std::string> requests(kClients);
    const auto request_of = [&](int client, int n) -> const std::string& {
      const auto at = static_cast<std::size_t>(client);
      return requests[at] = bench.post_text(
                 "runs/log-metric",
                 fmt::format(R"({{"run_id":"{}","key":"loss","value":{},"timestamp":{},"step":{}}})",
                             runs[at], 3.25 + 0.001 * n, kNow + n, n));
    };
    rates.push_back(kClients * kEach / ask_all(bench.server(), kClients, kEach, request_of));
  }
  return {"MLflow log-metric, 256 clients", median(rates), "requests/s", kPeer, 300, true, 20'000};
}

Figure measure_history(const Bench& bench) {
  const std::string run = bench.start_run();
  for (int number = 0; number < 100; ++number) {
    json metrics = json::array();
    for (int i = 0; i < 1000; ++i) metrics.push_back(metric("loss", 1000 * number + i));
    bench.post("runs/log-batch", {{"run_id", run}, {"metrics", metrics}});
  }
  std::vector<double> times;
  for (int round = 0; round < 4 * kRounds; ++round) {
    const Timed timed =
        ask(bench.server(), bench.get_text("metrics/get-history?metric_key=loss&run_id=" + run));
    times.push_back(timed.seconds * 1e3);
    if (round == 0 && json::parse(timed.answer.body).at("metrics").size() != 100'000)
      throw std::runtime_error("the history lacks points");
  }
  return {"MLflow history of 100,000 points", median(times), "ms", kPeer, 3'900, false, 50};
}

// `count` runs with five metrics and five params each; returns their experiment.
std::string make_runs(const Bench& bench, int count) {
  constexpr int kClients = 100;
  const std::string experiment = bench.post("experiments/create", {{"name", "search"}}).at("experiment_id");
  const std::string first = bench.start_run(experiment);  // the others have the numbers that follow
  const std::int64_t number = std::stoll(first.substr(16), nullptr, 16) + 1;
  const std::string create =
      bench.post_text("runs/create", {{"experiment_id", experiment}, {"start_time", kNow}});
  ask_all(bench.server(), kClients, count / kClients, [&](int, int) -> const std::string& { return create; });
  std::vector<std::string> requests(kClients);
  const auto request_of = [&](int client, int n) -> const std::string& {
    const int i = n * kClients + client;
    json metrics = json::array(), params = json::array();
    for (int key = 0; key < 5; ++key) {
      metrics.push_back({{"key", fmt::format("metric_{}", key)},
                         {"value", (i * 37 + key) % 1000 / 1000.0},
                         {"timestamp", kNow}});
      params.push_back({{"key", fmt::format("param_{}", key)}, {"value", std::to_string((i + key) % 7)}});
    }
    const json body{{"run_id", first.substr(0, 16) + fmt::format("{:016x}", number + i)},
                    {"metrics", metrics},
                    {"params", params}};
    return requests[static_cast<std::size_t>(client)] = bench.post_text("runs/log-batch", body);
  };
  ask_all(bench.server(), kClients, count / kClients, request_of);
  return experiment;
}

std::vector<Figure> measure_searches(const Bench& bench) {
  const std::string experiment = make_runs(bench, 10'000);
  const json search{{"experiment_ids", {experiment}},
                    {"filter", "metrics.metric_0 > 0.5 and params.param_1 = '3'"},
                    {"order_by", {"metrics.metric_1 DESC"}}};
  json few = search;
  few["max_results"] = 100;
  const auto time_of = [&](const json& body) {
    std::vector<double> times;
    for (int round = 0; round < 4 * kRounds; ++round)
      times.push_back(ask(bench.server(), bench.post_text("runs/search", body)).seconds * 1e3);
    return median(times);
  };
  return {{"MLflow search over 10,000 runs, a hundred shown", time_of(few), "ms", "", 0, false, 50},
          {"MLflow search over 10,000 runs, all 714 shown", time_of(search), "ms", "", 0, false, 50}};
}

int measure(const std::vector<std::string>& chosen) {
  const std::vector<std::string> parts{"batches", "metrics", "history", "search"};
  for (const std::string& part : chosen)
    if (std::ranges::find(parts, part) == parts.end()) {
      std::fprintf(stderr, "bench_mlflow: no part \"%s\"; there are batches, metrics, history, search\n",
                   part.c_str());
      return 2;
    }
  const auto wanted = [&](const char* part) {
    return chosen.empty() || std::ranges::find(chosen, part) != chosen.end();
  };
  const Bench bench;
  if (wanted("batches")) print(measure_batches(bench));
  if (wanted("metrics")) print(measure_single(bench));
  if (wanted("history")) print(measure_history(bench));
  if (wanted("search"))
    for (const Figure& figure : measure_searches(bench)) print(figure);
  return 0;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  return podium::measure({argv + 1, argv + argc});
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_mlflow: %s\n", error.what());
  return 1;
}
