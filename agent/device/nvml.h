// NVML, the NVIDIA driver's own library, opened at run time: the agent builds and runs where there is none.
// It has only the calls that the agent needs. The C interface is stable across drivers; calls that an older
// driver lacks answer kFunctionNotFound. A broken GPU may block calls indefinitely.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace podium::nvml {

using Handle = void*;

// nvmlReturn_t, as far as anything is decided by it.
inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kTimeout = 10;
inline constexpr int kFunctionNotFound = 13;
inline constexpr int kGpuIsLost = 15;
inline constexpr int kResetRequired = 16;

inline constexpr unsigned kMaxLinks = 18;  // NVML_NVLINK_MAX_LINKS

// The result of a call: a value, or the code of its failure.
template <class T>
struct Answer {
  int code = kSuccess;
  T value{};

  explicit operator bool() const { return code == kSuccess; }
};

struct Memory {
  std::uint64_t total = 0, used = 0;  // bytes
};

struct RemappedRows {
  bool pending = false;  // takes effect with the next reset of the GPU
  bool failed = false;   // the memory can no longer be repaired
};

struct Process {
  int pid = 0;
  std::uint64_t bytes = 0;  // of device memory; 0: not told
};

struct Xid {
  std::string uuid;  // of the GPU
  int number = 0;
};

// nvmlIntNvLinkDeviceType_t
enum class LinkPeer { gpu = 0, ibm_npu = 1, nvswitch = 2, unknown = 255 };

struct Functions;

class Nvml {
 public:
  // Throws std::runtime_error where there is no such library or its driver does not answer.
  explicit Nvml(const std::string& library);
  ~Nvml();

  std::string error_text(int code) const;
  std::string driver_version() const;  // throws std::runtime_error
  unsigned count() const;              // throws std::runtime_error

  Answer<Handle> device(unsigned index) const;
  Answer<std::string> name(Handle device) const;
  Answer<std::string> uuid(Handle device) const;
  Answer<std::string> bus_id(Handle device) const;  // "00000000:1B:00.0"
  Answer<Memory> memory(Handle device) const;
  // The host's NUMA node nearest to the device. (nvmlDeviceGetNumaNodeId is another thing: the node that the
  // memory of a coherent GPU is itself.)
  Answer<int> nearest_numa_node(Handle device) const;

  Answer<bool> link_is_active(Handle device, unsigned link) const;
  Answer<LinkPeer> link_peer(Handle device, unsigned link) const;
  Answer<std::string> link_peer_bus_id(Handle device, unsigned link) const;
  Answer<int> common_ancestor(Handle one, Handle other) const;  // nvmlGpuTopologyLevel_t

  Answer<unsigned> utilisation(Handle device) const;  // percent
  Answer<unsigned> power(Handle device) const;        // milliwatts
  Answer<unsigned> temperature(Handle device) const;  // degrees Celsius
  // Since the driver was loaded.
  Answer<std::uint64_t> corrected_errors(Handle device) const { return ecc_errors(device, 0); }
  Answer<std::uint64_t> uncorrected_errors(Handle device) const { return ecc_errors(device, 1); }
  Answer<RemappedRows> remapped_rows(Handle device) const;    // Ampere and later
  Answer<bool> page_retirement_pending(Handle device) const;  // before Ampere
  Answer<bool> mig_is_on(Handle device) const;                // it is cut into Multi-Instance GPUs

  Answer<std::vector<Process>> compute_processes(Handle device) const;
  Answer<std::string> process_name(int pid) const;

  // From now on next_xid reports this device's errors.
  int watch_xids(Handle device);
  // Waits at most this long; kTimeout where there was none.
  Answer<Xid> next_xid(unsigned milliseconds) const;

 private:
  struct CloseLibrary {
    void operator()(void* library) const;
  };

  void expect(int code, const char* what) const;
  Answer<std::uint64_t> ecc_errors(Handle device, int type) const;

  std::unique_ptr<void, CloseLibrary> library_;
  std::unique_ptr<Functions> functions_;
  void* events_ = nullptr;
};

}  // namespace podium::nvml
