#include "agent/device/gpu_monitor.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "agent/device/gpu_health.h"

namespace podium {
namespace {

// The result of a call, in the reading's unit; nothing where the device does not measure it.
template <class T>
std::optional<double> measured(const nvml::Answer<T>& answer, double unit = 1) {
  if (!answer) return std::nullopt;
  return static_cast<double>(answer.value) / unit;
}

GpuFaults find_faults(const nvml::Nvml& nvml, nvml::Handle gpu) {
  GpuFaults faults;
  const auto uncorrected = nvml.uncorrected_errors(gpu);
  faults.uncorrected_errors = uncorrected ? uncorrected.value : 0;
  const auto rows = nvml.remapped_rows(gpu);
  const auto pages = nvml.page_retirement_pending(gpu);
  faults.repair_pending = (rows && rows.value.pending) || (pages && pages.value);
  faults.repair_failed = rows && rows.value.failed;
  const auto mig = nvml.mig_is_on(gpu);
  faults.mig_is_on = mig && mig.value;
  for (const int code : {nvml.memory(gpu).code, nvml.temperature(gpu).code, uncorrected.code}) {
    faults.reset_required |= code == nvml::kResetRequired;
    if (code == nvml::kGpuIsLost) faults.unreachable = nvml.error_text(code);
  }
  return faults;
}

DeviceReading read(const nvml::Nvml& nvml, nvml::Handle gpu) {
  DeviceReading reading;
  if (const auto memory = nvml.memory(gpu)) reading.memory_used = static_cast<double>(memory.value.used);
  reading.utilisation = measured(nvml.utilisation(gpu), 100);
  reading.power = measured(nvml.power(gpu), 1000);
  reading.temperature = measured(nvml.temperature(gpu));
  reading.ecc_corrected = measured(nvml.corrected_errors(gpu));
  reading.ecc_uncorrected = measured(nvml.uncorrected_errors(gpu));
  return reading;
}

std::vector<MemoryHolder> find_holders(const nvml::Nvml& nvml, nvml::Handle gpu) {
  std::vector<MemoryHolder> holders;
  for (const nvml::Process& process : nvml.compute_processes(gpu).value) {
    const std::string program = nvml.process_name(process.pid).value;
    holders.push_back({process.pid, std::filesystem::path(program).filename().string(),
                       static_cast<std::int64_t>(process.bytes)});
  }
  return holders;
}

}  // namespace

GpuMonitor::GpuMonitor(const std::string& library) : nvml_(library) {
  const unsigned count = nvml_.count();
  for (unsigned index = 0; index < count; ++index) {
    Gpu gpu{static_cast<int>(index)};
    if (const auto handle = nvml_.device(index)) {
      gpu.handle = handle.value;
      gpu.uuid = nvml_.uuid(gpu.handle).value;
      const int code = nvml_.watch_xids(gpu.handle);
      hears_xids_ |= code == nvml::kSuccess;
      if (code != nvml::kSuccess)
        spdlog::warn("XID errors of GPU {} cannot be watched: {}", index, nvml_.error_text(code));
    }
    gpus_.push_back(std::move(gpu));
  }
}

std::vector<GpuState> GpuMonitor::look() {
  std::vector<GpuState> states;
  for (const Gpu& gpu : gpus_) states.push_back(look_at(gpu));
  return states;
}

GpuState GpuMonitor::look_at(const Gpu& gpu) const {
  GpuState state;
  state.index = gpu.index;
  GpuFaults faults;
  const auto handle = nvml_.device(static_cast<unsigned>(gpu.index));
  if (handle) {
    state.reading = read(nvml_, handle.value);
    state.holders = find_holders(nvml_, handle.value);
    faults = find_faults(nvml_, handle.value);
  } else if (handle.code == nvml::kResetRequired) {
    faults.reset_required = true;
  } else {
    faults.unreachable = nvml_.error_text(handle.code);
  }
  state.reading.device = gpu.index;
  state.reading.xid_errors = gpu.xid_count;
  if (gpu.xid_count > 0) state.reading.last_xid = gpu.last_xid;
  faults.critical_xid = gpu.critical_xid;
  state.health = judge_gpu(faults, gpu.index);
  return state;
}

bool GpuMonitor::wait_for_xid(std::chrono::milliseconds longest) {
  nvml::Answer<nvml::Xid> xid{nvml::kNotSupported, {}};
  if (hears_xids_) xid = nvml_.next_xid(static_cast<unsigned>(longest.count()));
  // Where the driver does not wait, for example because a GPU is lost, this waits.
  if (!xid && xid.code != nvml::kTimeout) std::this_thread::sleep_for(longest);
  if (!xid) return false;
  const auto gpu = std::ranges::find(gpus_, xid.value.uuid, &Gpu::uuid);
  if (gpu == gpus_.end()) return false;
  const bool critical = is_critical_xid(xid.value.number);
  spdlog::log(critical ? spdlog::level::err : spdlog::level::warn, "GPU {}: XID {}", gpu->index,
              xid.value.number);
  ++gpu->xid_count;
  gpu->last_xid = xid.value.number;
  if (critical) gpu->critical_xid = xid.value.number;
  return true;
}

}  // namespace podium
