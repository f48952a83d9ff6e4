#include "agent/device/gpu_health.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace podium {
namespace {

enum class Remedy { reset, restart_node, replace };

struct CriticalXid {
  int number;
  std::string_view meaning;
  Remedy remedy;
};

// XIDs that programs cause (13, 31, 43, 45, …) are not listed: their task fails and the device stays healthy.
constexpr std::array<CriticalXid, 14> kCriticalXids{{
    {48, "double-bit memory error", Remedy::reset},
    {61, "internal micro-controller breakpoint", Remedy::reset},
    {62, "internal micro-controller halt", Remedy::reset},
    {63, "memory repair recorded, to take effect with a reset", Remedy::reset},
    {64, "memory repair could not be recorded", Remedy::replace},
    {74, "NVLink error", Remedy::reset},
    {79, "the GPU has fallen off the bus", Remedy::restart_node},
    {92, "high rate of single-bit memory errors", Remedy::replace},
    {94, "contained memory error", Remedy::reset},
    {95, "uncontained memory error", Remedy::reset},
    {119, "the GPU's system processor does not answer", Remedy::restart_node},
    {120, "error of the GPU's system processor", Remedy::restart_node},
    {140, "unrecovered memory error", Remedy::reset},
    {143, "GPU initialisation failed", Remedy::restart_node},
}};

const CriticalXid* find_critical(int xid) {
  const auto found = std::ranges::find(kCriticalXids, xid, &CriticalXid::number);
  return found == kCriticalXids.end() ? nullptr : &*found;
}

std::string name_remedy(Remedy remedy, int index) {
  switch (remedy) {
    case Remedy::reset:
      return fmt::format(
          "stop podium-agent, reset the GPU (nvidia-smi --gpu-reset -i {}), start podium-agent", index);
    case Remedy::restart_node:
      return "restart the node; if it recurs, have the GPU replaced";
    case Remedy::replace:
      return "have the GPU replaced";
  }
  return "";
}

}  // namespace

bool is_critical_xid(int xid) { return find_critical(xid) != nullptr; }

std::string judge_gpu(const GpuFaults& faults, int index) {
  const auto say = [index](const std::string& what, Remedy remedy) {
    return what + ": " + name_remedy(remedy, index);
  };
  // The XID goes first: it names the cause of what the rest shows.
  if (const CriticalXid* xid = find_critical(faults.critical_xid))
    return say(fmt::format("XID {} ({})", xid->number, xid->meaning), xid->remedy);
  if (!faults.unreachable.empty()) return say(faults.unreachable, Remedy::restart_node);
  if (faults.repair_failed) return say("its memory cannot be repaired any more", Remedy::replace);
  if (faults.reset_required) return say("the driver asks for a reset", Remedy::reset);
  if (faults.uncorrected_errors > 0)
    return say(
        fmt::format("{} uncorrected memory error(s) since the driver was loaded", faults.uncorrected_errors),
        Remedy::reset);
  if (faults.repair_pending) return say("a memory repair waits for a reset", Remedy::reset);
  if (faults.mig_is_on)
    return fmt::format(
        "it is cut into Multi-Instance GPUs: jobs get whole ones; nvidia-smi -i {} -mig 0 makes it one",
        index);
  return "";
}

}  // namespace podium
