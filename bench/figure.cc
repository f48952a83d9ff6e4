#include "bench/figure.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "common/base/file.h"

namespace podium {

void print(const Figure& figure) {
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

double resident_bytes(int pid) {
  std::istringstream status(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  throw std::runtime_error("process " + std::to_string(pid) + " reports no VmRSS");
}

}  // namespace podium
