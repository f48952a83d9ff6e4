// bench_cluster [ingest|submissions|latency|memory ...]: prints one JSON object a figure; bench/run makes the
// table.
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "bench/cluster/benchmarks.h"

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
