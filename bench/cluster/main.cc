// bench_cluster [ingest|submissions|latency|memory ...]: prints one JSON object a figure; bench/run makes the
// table.
#include <cstdio>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cluster/benchmarks.h"

namespace {

void print(const podium::Figure& figure) {
  nlohmann::ordered_json line{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
  if (!figure.peer.empty()) {
    line["peer"] = figure.peer;
    line["peer_value"] = figure.peer_value;
    line["ratio"] = figure.value / figure.peer_value;
  }
  line["better"] = figure.higher_is_better ? "higher" : "lower";
  if (figure.goal) {
    line["goal"] = *figure.goal;
    line["reached"] = figure.higher_is_better ? figure.value >= *figure.goal : figure.value <= *figure.goal;
  }
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::map<std::string, std::vector<podium::Figure> (*)()> benchmarks{
      {"ingest", podium::measure_ingest},
      {"latency", podium::measure_launch_latency},
      {"memory", podium::measure_memory},
      {"submissions", podium::measure_submissions}};
  std::vector<std::string> chosen(argv + 1, argv + argc);
  if (chosen.empty())
    for (const auto& [name, _] : benchmarks) chosen.push_back(name);
  for (const std::string& name : chosen) {
    const auto found = benchmarks.find(name);
    if (found == benchmarks.end()) {
      std::fprintf(stderr,
                   "bench_cluster: no benchmark \"%s\"; there are ingest, latency, memory, submissions\n",
                   name.c_str());
      return 2;
    }
    for (const podium::Figure& figure : found->second()) print(figure);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_cluster: %s\n", error.what());
  return 1;
}
