#include "agent/device/gpu_topology.h"

#include <algorithm>

namespace podium {
namespace {

// NVLinks between a and b: direct ones or, through switches, as many as both have.
int links_between(const GpuWiring& wiring, std::size_t a, std::size_t b) {
  const int straight = std::max(wiring.links[a][b], wiring.links[b][a]);
  return straight > 0 ? straight : std::min(wiring.switch_links[a], wiring.switch_links[b]);
}

// nvmlGpuTopologyLevel_t by nvidia-smi's names; two GPUs of one board (0) share a switch.
std::string name_level(int level) {
  switch (level) {
    case 0:
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return "?";
  }
}

void reach(const GpuWiring& wiring, std::size_t from, int number, std::vector<int>& islands) {
  islands[from] = number;
  for (std::size_t to = 0; to < wiring.size(); ++to)
    if (to != from && islands[to] < 0 && links_between(wiring, from, to) > 0)
      reach(wiring, to, number, islands);
}

}  // namespace

std::vector<int> find_islands(const GpuWiring& wiring) {
  std::vector<int> islands(wiring.size(), -1);
  int next = 0;
  for (std::size_t gpu = 0; gpu < wiring.size(); ++gpu) {
    if (islands[gpu] >= 0) continue;
    reach(wiring, gpu, next, islands);
    if (std::ranges::count(islands, next) > 1)
      ++next;
    else
      islands[gpu] = -1;
  }
  return islands;
}

std::vector<std::vector<std::string>> name_paths(const GpuWiring& wiring) {
  std::vector<std::vector<std::string>> paths(wiring.size());
  for (std::size_t a = 0; a < wiring.size(); ++a)
    for (std::size_t b = 0; b < wiring.size(); ++b) {
      const int links = a == b ? 0 : links_between(wiring, a, b);
      paths[a].push_back(a == b      ? "X"
                         : links > 0 ? "NV" + std::to_string(links)
                                     : name_level(wiring.levels[a][b]));
    }
  return paths;
}

}  // namespace podium
