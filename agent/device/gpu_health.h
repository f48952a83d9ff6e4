// Whether a GPU may get work, judged from its driver's data. The result is the sentence in Device::health,
// which says what is wrong and what to do. Pure. Numbers and remedies follow NVIDIA's "XID Errors" and "GPU
// Memory Error Management" guides.
#pragma once

#include <cstdint>
#include <string>

namespace podium {

struct GpuFaults {
  std::string unreachable;  // why NVML cannot ask it; "" when it can
  bool reset_required = false;
  std::uint64_t uncorrected_errors = 0;  // of memory, since the driver was loaded
  bool repair_pending = false;           // rows to remap or pages to retire: takes effect with a reset
  bool repair_failed = false;
  bool mig_is_on = false;  // a job would find one instance of the GPU, not the GPU
  int critical_xid = 0;    // the newest that the agent has seen since it started; 0: none
};

// Whether an XID error is the device's fault rather than the program's.
bool is_critical_xid(int xid);

// "" when healthy. `index`: of the device on its node, for the remedy.
std::string judge_gpu(const GpuFaults& faults, int index);

}  // namespace podium
