// How the GPUs of one node reach each other, from NVML's data of each. Pure.
#pragma once

#include <string>
#include <vector>

namespace podium {

// Of n GPUs. A GPU that could not be asked has no links and unknown levels.
struct GpuWiring {
  explicit GpuWiring(std::size_t count)
      : links(count, std::vector<int>(count)),
        levels(count, std::vector<int>(count, kUnknownLevel)),
        switch_links(count) {}

  static constexpr int kUnknownLevel = -1;

  std::vector<std::vector<int>> links;  // [a][b]: active NVLinks from a straight to b
  std::vector<std::vector<int>>
      levels;                     // [a][b]: nvmlGpuTopologyLevel_t of the nearest common ancestor on PCIe
  std::vector<int> switch_links;  // [a]: active NVLinks from a to NVSwitches, which join all they link

  std::size_t size() const { return links.size(); }
};

// The connected parts of the NVLink network that hold two GPUs or more, numbered by their first GPU; -1 for a
// GPU that no NVLink joins to another.
std::vector<int> find_islands(const GpuWiring& wiring);

// For each GPU how it reaches every GPU, as `nvidia-smi topo -m` prints it: X for itself, NV<links>, PIX,
// PXB, PHB, NODE, SYS, and ? where NVML does not know.
std::vector<std::vector<std::string>> name_paths(const GpuWiring& wiring);

}  // namespace podium
