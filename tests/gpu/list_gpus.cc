// list_gpus: what an agent finds of a node's GPUs and what it sees at one look, as one JSON object.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "agent/device/gpu_monitor.h"
#include "agent/device/nvml_probe.h"

namespace podium {
namespace {

nlohmann::json found_by_agent() {
  DeviceProbes probes;
  probes.push_back(std::make_unique<NvmlProbe>());
  const Discovery found = find_devices(probes);
  nlohmann::json devices = nlohmann::json::array();
  for (const Device& device : found.devices) devices.push_back(to_json(device));
  return {{"devices", devices}, {"notes", found.notes}};
}

nlohmann::json seen_at_one_look() {
  nlohmann::json seen = nlohmann::json::array();
  for (const GpuState& state : GpuMonitor(kNvmlLibrary).look()) {
    nlohmann::json holders = nlohmann::json::array();
    for (const MemoryHolder& holder : state.holders)
      holders.push_back({{"pid", holder.pid}, {"name", holder.name}, {"bytes", holder.bytes}});
    seen.push_back({{"index", state.index},
                    {"health", state.health},
                    {"reading", to_json(state.reading)},
                    {"holders", holders}});
  }
  return seen;
}

}  // namespace
}  // namespace podium

int main() try {
  nlohmann::json said = podium::found_by_agent();
  if (!said["devices"].empty()) said["look"] = podium::seen_at_one_look();
  std::printf("%s\n", said.dump(2).c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "list_gpus: %s\n", error.what());
  return 1;
}
