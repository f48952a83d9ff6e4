#include "agent/device/cpu_slots.h"

#include <sched.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <thread>

#include "common/base/file.h"

namespace podium {
namespace {

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

std::string cpu_model(std::string_view cpuinfo) {
  // "model name" on x86, "Model" or "Processor" on Arm and POWER boards that say anything at all.
  static constexpr std::array<std::string_view, 4> kKeys{"model name", "Processor", "Model", "cpu"};
  for (const std::string_view key : kKeys) {
    std::size_t at = 0;
    while (at < cpuinfo.size()) {
      const std::size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
      const std::string_view line = cpuinfo.substr(at, end - at);
      at = end + 1;
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon + 2 > line.size()) continue;
      const std::string_view name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
      if (name == key) return std::string(line.substr(colon + 2));
    }
  }
  return "CPU";
}

Discovery CpuSlots::discover() {
  Discovery found;
  if (slots_ == 0) return found;
  Device slot;
  slot.kind = "cpu";
  slot.model = cpu_model(read_file("/proc/cpuinfo"));
  slot.threads = threads_per_slot_ > 0 ? threads_per_slot_ : std::max(1, usable_threads() / slots_);
  found.devices.assign(static_cast<std::size_t>(slots_), slot);
  found.notes.push_back(
      fmt::format("{} CPU slot(s) of {} thread(s) each: {}", slots_, slot.threads, slot.model));
  return found;
}

}  // namespace podium
