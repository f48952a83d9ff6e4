#include "agent/device/nvml.h"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <bit>
#include <stdexcept>

namespace podium::nvml {

// The declarations of nvml.h used here, with its names.
struct nvmlMemory {
  unsigned long long total, free, used;
};
struct nvmlUtilization {
  unsigned gpu, memory;
};
struct nvmlPciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct nvmlProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;  // all ones: not told
  unsigned gpu_instance, compute_instance;
};
struct nvmlEventData {
  Handle device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
using EventSet = void*;

struct Functions {
  int (*init)();
  int (*shutdown)();
  const char* (*error_string)(int);
  int (*driver_version)(char*, unsigned);
  int (*count)(unsigned*);
  int (*handle)(unsigned, Handle*);
  int (*name)(Handle, char*, unsigned);
  int (*uuid)(Handle, char*, unsigned);
  int (*memory)(Handle, nvmlMemory*);

  int (*pci)(Handle, nvmlPciInfo*);
  int (*memory_affinity)(Handle, unsigned, unsigned long*, int);
  int (*link_state)(Handle, unsigned, int*);
  int (*link_peer)(Handle, unsigned, int*);
  int (*link_peer_pci)(Handle, unsigned, nvmlPciInfo*);
  int (*common_ancestor)(Handle, Handle, int*);
  int (*utilisation)(Handle, nvmlUtilization*);
  int (*power)(Handle, unsigned*);
  int (*temperature)(Handle, int, unsigned*);
  int (*ecc_errors)(Handle, int, int, unsigned long long*);
  int (*remapped_rows)(Handle, unsigned*, unsigned*, unsigned*, unsigned*);
  int (*retirement_pending)(Handle, int*);
  int (*mig_mode)(Handle, unsigned*, unsigned*);
  int (*compute_processes)(Handle, unsigned*, nvmlProcessInfo*);
  int (*process_name)(unsigned, char*, unsigned);
  int (*event_set_create)(EventSet*);
  int (*event_set_free)(EventSet);
  int (*register_events)(Handle, unsigned long long, EventSet);
  int (*event_set_wait)(EventSet, nvmlEventData*, unsigned);
};

namespace {

constexpr std::size_t kTextLength = 96;
constexpr unsigned long long kXidEvents = 0x8;  // nvmlEventTypeXidCriticalError
constexpr int kVolatile = 0;                    // nvmlEccCounterType_t
constexpr int kNodeScope = 0;                   // nvmlAffinityScope_t
constexpr int kGpuSensor = 0;                   // nvmlTemperatureSensors_t

template <class Function>
void find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
}

template <class Function>
void need(void* library, Function*& function, const char* name) {
  find(library, function, name);
  if (!function) throw std::runtime_error(fmt::format("the driver's library lacks {}", name));
}

Functions load(void* library) {
  Functions f{};
  need(library, f.init, "nvmlInit_v2");
  need(library, f.shutdown, "nvmlShutdown");
  need(library, f.error_string, "nvmlErrorString");
  need(library, f.driver_version, "nvmlSystemGetDriverVersion");
  need(library, f.count, "nvmlDeviceGetCount_v2");
  need(library, f.handle, "nvmlDeviceGetHandleByIndex_v2");
  need(library, f.name, "nvmlDeviceGetName");
  need(library, f.uuid, "nvmlDeviceGetUUID");
  need(library, f.memory, "nvmlDeviceGetMemoryInfo");
  find(library, f.pci, "nvmlDeviceGetPciInfo_v3");
  find(library, f.memory_affinity, "nvmlDeviceGetMemoryAffinity");
  find(library, f.link_state, "nvmlDeviceGetNvLinkState");
  find(library, f.link_peer, "nvmlDeviceGetNvLinkRemoteDeviceType");
  find(library, f.link_peer_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  find(library, f.common_ancestor, "nvmlDeviceGetTopologyCommonAncestor");
  find(library, f.utilisation, "nvmlDeviceGetUtilizationRates");
  find(library, f.power, "nvmlDeviceGetPowerUsage");
  find(library, f.temperature, "nvmlDeviceGetTemperature");
  find(library, f.ecc_errors, "nvmlDeviceGetTotalEccErrors");
  find(library, f.remapped_rows, "nvmlDeviceGetRemappedRows");
  find(library, f.retirement_pending, "nvmlDeviceGetRetiredPagesPendingStatus");
  find(library, f.mig_mode, "nvmlDeviceGetMigMode");
  find(library, f.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (!f.compute_processes) find(library, f.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  find(library, f.process_name, "nvmlSystemGetProcessName");
  find(library, f.event_set_create, "nvmlEventSetCreate");
  find(library, f.event_set_free, "nvmlEventSetFree");
  find(library, f.register_events, "nvmlDeviceRegisterEvents");
  find(library, f.event_set_wait, "nvmlEventSetWait_v2");
  return f;
}

template <class... Parameters, class... Arguments>
int call(int (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : kFunctionNotFound;
}

// A call that writes one value behind its last parameter.
template <class Value, class... Parameters, class... Arguments>
Answer<Value> ask(int (*function)(Parameters...), Arguments... arguments) {
  Answer<Value> answer;
  answer.code = call(function, arguments..., &answer.value);
  return answer;
}

// A call that writes text.
template <class... Parameters, class... Arguments>
Answer<std::string> ask_text(int (*function)(Parameters...), Arguments... arguments) {
  std::array<char, kTextLength> text{};
  const int code = call(function, arguments..., text.data(), static_cast<unsigned>(text.size()));
  return {code, code == kSuccess ? std::string(text.data()) : ""};
}

Answer<std::string> bus_id_of(const Answer<nvmlPciInfo>& pci) {
  return {pci.code, pci ? std::string(pci.value.bus_id) : ""};
}

}  // namespace

void Nvml::CloseLibrary::operator()(void* library) const { ::dlclose(library); }

Nvml::Nvml(const std::string& library) : library_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw std::runtime_error(::dlerror());
  functions_ = std::make_unique<Functions>(load(library_.get()));
  expect(functions_->init(), "nvmlInit");
}

Nvml::~Nvml() {
  if (events_) functions_->event_set_free(events_);
  functions_->shutdown();
}

void Nvml::expect(int code, const char* what) const {
  if (code != kSuccess) throw std::runtime_error(fmt::format("{}: {}", what, error_text(code)));
}

std::string Nvml::error_text(int code) const { return functions_->error_string(code); }

std::string Nvml::driver_version() const {
  Answer<std::string> version = ask_text(functions_->driver_version);
  expect(version.code, "nvmlSystemGetDriverVersion");
  return std::move(version.value);
}

unsigned Nvml::count() const {
  const Answer<unsigned> count = ask<unsigned>(functions_->count);
  expect(count.code, "nvmlDeviceGetCount");
  return count.value;
}

Answer<Handle> Nvml::device(unsigned index) const { return ask<Handle>(functions_->handle, index); }
Answer<std::string> Nvml::name(Handle device) const { return ask_text(functions_->name, device); }
Answer<std::string> Nvml::uuid(Handle device) const { return ask_text(functions_->uuid, device); }

Answer<std::string> Nvml::bus_id(Handle device) const {
  return bus_id_of(ask<nvmlPciInfo>(functions_->pci, device));
}

Answer<Memory> Nvml::memory(Handle device) const {
  const auto memory = ask<nvmlMemory>(functions_->memory, device);
  return {memory.code, {memory.value.total, memory.value.used}};
}

Answer<int> Nvml::nearest_numa_node(Handle device) const {
  std::array<unsigned long, 16> nodes{};  // a bit a node
  const int code = call(functions_->memory_affinity, device, static_cast<unsigned>(nodes.size()),
                        nodes.data(), kNodeScope);
  if (code != kSuccess) return {code, -1};
  constexpr int kBits = 8 * sizeof(unsigned long);
  for (std::size_t word = 0; word < nodes.size(); ++word)
    if (nodes[word]) return {kSuccess, static_cast<int>(word) * kBits + std::countr_zero(nodes[word])};
  return {kNotSupported, -1};
}

Answer<bool> Nvml::link_is_active(Handle device, unsigned link) const {
  const auto state = ask<int>(functions_->link_state, device, link);
  return {state.code, state.value != 0};
}

Answer<LinkPeer> Nvml::link_peer(Handle device, unsigned link) const {
  const auto type = ask<int>(functions_->link_peer, device, link);
  return {type.code, type ? static_cast<LinkPeer>(type.value) : LinkPeer::unknown};
}

Answer<std::string> Nvml::link_peer_bus_id(Handle device, unsigned link) const {
  return bus_id_of(ask<nvmlPciInfo>(functions_->link_peer_pci, device, link));
}

Answer<int> Nvml::common_ancestor(Handle one, Handle other) const {
  return ask<int>(functions_->common_ancestor, one, other);
}

Answer<unsigned> Nvml::utilisation(Handle device) const {
  const auto rates = ask<nvmlUtilization>(functions_->utilisation, device);
  return {rates.code, rates.value.gpu};
}

Answer<unsigned> Nvml::power(Handle device) const { return ask<unsigned>(functions_->power, device); }

Answer<unsigned> Nvml::temperature(Handle device) const {
  return ask<unsigned>(functions_->temperature, device, kGpuSensor);
}

Answer<std::uint64_t> Nvml::ecc_errors(Handle device, int type) const {
  const auto count = ask<unsigned long long>(functions_->ecc_errors, device, type, kVolatile);
  return {count.code, count.value};
}

Answer<RemappedRows> Nvml::remapped_rows(Handle device) const {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  const int code = call(functions_->remapped_rows, device, &corrected, &uncorrected, &pending, &failed);
  return {code, {pending != 0, failed != 0}};
}

Answer<bool> Nvml::page_retirement_pending(Handle device) const {
  const auto pending = ask<int>(functions_->retirement_pending, device);
  return {pending.code, pending.value != 0};
}

Answer<bool> Nvml::mig_is_on(Handle device) const {
  unsigned current = 0, pending = 0;
  const int code = call(functions_->mig_mode, device, &current, &pending);
  return {code, current != 0};
}

Answer<std::vector<Process>> Nvml::compute_processes(Handle device) const {
  std::vector<nvmlProcessInfo> found(16);
  unsigned count = 0;
  int code = kInsufficientSize;
  while (code == kInsufficientSize) {  // tells how many there are, which may grow between two calls
    found.resize(std::max<std::size_t>(found.size(), count + 4U));
    count = static_cast<unsigned>(found.size());
    code = call(functions_->compute_processes, device, &count, found.data());
  }
  Answer<std::vector<Process>> answer{code, {}};
  if (code != kSuccess) return answer;
  for (unsigned i = 0; i < count; ++i) {
    const bool told = found[i].used_gpu_memory != ~0ULL;
    answer.value.push_back({static_cast<int>(found[i].pid), told ? found[i].used_gpu_memory : 0});
  }
  return answer;
}

Answer<std::string> Nvml::process_name(int pid) const {
  return ask_text(functions_->process_name, static_cast<unsigned>(pid));
}

int Nvml::watch_xids(Handle device) {
  if (!functions_->event_set_wait || !functions_->event_set_free) return kFunctionNotFound;
  if (!events_)
    if (const int code = call(functions_->event_set_create, &events_); code != kSuccess) return code;
  return call(functions_->register_events, device, kXidEvents, events_);
}

Answer<Xid> Nvml::next_xid(unsigned milliseconds) const {
  nvmlEventData event{};
  const int code = functions_->event_set_wait(events_, &event, milliseconds);
  if (code != kSuccess) return {code, {}};
  return {kSuccess, {uuid(event.device).value, static_cast<int>(event.data)}};
}

}  // namespace podium::nvml
