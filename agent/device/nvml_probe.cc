#include "agent/device/nvml_probe.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "agent/device/gpu_topology.h"
#include "agent/device/nvml.h"

namespace podium {
namespace {

struct FoundGpu {
  nvml::Handle handle = nullptr;  // nullptr: it cannot be asked
  std::string bus_id;
  Device device;
};

// NVML's 00000000:1B:00.0 is 0000:1b:00.0 in the kernel's files.
int numa_node_by_kernel(const std::filesystem::path& pci_devices, std::string bus_id) {
  if (bus_id.size() > 12) bus_id.erase(0, bus_id.size() - 12);
  std::ranges::transform(bus_id, bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
  std::ifstream file(pci_devices / bus_id / "numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

FoundGpu describe(const nvml::Nvml& nvml, unsigned index, const std::filesystem::path& pci_devices) {
  FoundGpu found;
  Device& device = found.device;
  device.kind = "gpu";
  device.model = "NVIDIA GPU";
  const auto fail = [&](const char* call, int code) {
    device.health = fmt::format("{}: {}", call, nvml.error_text(code));
    return found;
  };
  const auto handle = nvml.device(index);
  if (!handle) return fail("nvmlDeviceGetHandleByIndex", handle.code);
  if (const auto name = nvml.name(handle.value))
    device.model = name.value;
  else
    return fail("nvmlDeviceGetName", name.code);
  if (const auto uuid = nvml.uuid(handle.value))
    device.uuid = uuid.value;
  else
    return fail("nvmlDeviceGetUUID", uuid.code);
  if (const auto memory = nvml.memory(handle.value))
    device.memory_bytes = static_cast<std::int64_t>(memory.value.total);
  else
    return fail("nvmlDeviceGetMemoryInfo", memory.code);
  found.handle = handle.value;
  found.bus_id = nvml.bus_id(handle.value).value;
  const auto numa = nvml.nearest_numa_node(handle.value);
  device.numa = numa ? numa.value : numa_node_by_kernel(pci_devices, found.bus_id);
  return found;
}

// Adds what the NVLinks of GPU `a` lead to.
void follow_links(const nvml::Nvml& nvml, const std::vector<FoundGpu>& gpus, std::size_t a,
                  GpuWiring& wiring) {
  for (unsigned link = 0; link < nvml::kMaxLinks; ++link) {
    const auto active = nvml.link_is_active(gpus[a].handle, link);
    if (!active || !active.value) continue;
    const std::string peer = nvml.link_peer_bus_id(gpus[a].handle, link).value;
    const auto b = std::ranges::find(gpus, peer, &FoundGpu::bus_id);
    if (b != gpus.end() && !peer.empty())
      ++wiring.links[a][static_cast<std::size_t>(b - gpus.begin())];
    else if (nvml.link_peer(gpus[a].handle, link).value == nvml::LinkPeer::nvswitch)
      ++wiring.switch_links[a];
  }
}

GpuWiring find_wiring(const nvml::Nvml& nvml, const std::vector<FoundGpu>& gpus) {
  GpuWiring wiring(gpus.size());
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    if (!gpus[a].handle) continue;
    follow_links(nvml, gpus, a, wiring);
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      if (a == b || !gpus[b].handle) continue;
      if (const auto level = nvml.common_ancestor(gpus[a].handle, gpus[b].handle))
        wiring.levels[a][b] = level.value;
    }
  }
  return wiring;
}

std::vector<FoundGpu> find_gpus(const nvml::Nvml& nvml, const std::filesystem::path& pci_devices) {
  std::vector<FoundGpu> gpus;
  const unsigned count = nvml.count();
  for (unsigned index = 0; index < count; ++index) gpus.push_back(describe(nvml, index, pci_devices));
  const GpuWiring wiring = find_wiring(nvml, gpus);
  const std::vector<int> islands = find_islands(wiring);
  std::vector<std::vector<std::string>> paths = name_paths(wiring);
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (!gpus[gpu].handle) continue;
    gpus[gpu].device.island = islands[gpu];
    gpus[gpu].device.paths = std::move(paths[gpu]);
  }
  return gpus;
}

}  // namespace

Discovery NvmlProbe::discover() {
  Discovery found;
  try {
    const nvml::Nvml nvml(library_);
    for (FoundGpu& gpu : find_gpus(nvml, pci_devices_)) found.devices.push_back(std::move(gpu.device));
    found.notes.push_back(
        fmt::format("{} NVIDIA GPU(s), driver {}", found.devices.size(), nvml.driver_version()));
  } catch (const std::runtime_error& error) {
    found.devices.clear();
    found.notes.push_back(fmt::format("no NVIDIA GPUs: {}", error.what()));
  }
  return found;
}

}  // namespace podium
