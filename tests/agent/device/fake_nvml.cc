// libnvidia-ml.so.1 that answers what the JSON file FAKE_NVML_RECORDING says, which is read again at each
// call: a test changes a machine by writing the file. FAKE_NVML_INIT makes nvmlInit return that number.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace {

using nlohmann::json;

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr int kTimeout = 10;

json recording() {
  std::ifstream file(std::getenv("FAKE_NVML_RECORDING"));
  return json::parse(file);
}

// Handles count from one.
std::size_t index_of(void* device) { return reinterpret_cast<std::size_t>(device) - 1; }

// What the recording says of a GPU: its own word, else that of every GPU; null: nothing.
json said_of(void* device, const char* what) {
  const json all = recording();
  const json& own = all.at("gpus").at(index_of(device));
  if (own.contains(what)) return own.at(what);
  return all.at("every").value(what, json());
}

int code_of(void* device) {
  const json code = said_of(device, "error");
  return code.is_null() ? kSuccess : code.get<int>();
}

void copy(const json& text, char* out, unsigned length) {
  std::strncpy(out, text.get<std::string>().c_str(), length);
}

template <class Value>
int give(void* device, const char* what, Value* value) {
  if (const int code = code_of(device)) return code;
  const json said = said_of(device, what);
  if (said.is_null()) return kNotSupported;
  *value = said.get<Value>();
  return kSuccess;
}

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

// null where there is no such link.
json link_of(void* device, unsigned link) {
  const json links = said_of(device, "links");
  return links.is_array() && link < links.size() ? links[link] : json();
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* result = std::getenv("FAKE_NVML_INIT");
  return result ? std::atoi(result) : kSuccess;
}
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int result) {
  return result == 15   ? "GPU is lost"
         : result == 9  ? "Driver Not Loaded"
         : result == 3  ? "Not Supported"
         : result == 16 ? "GPU requires reset"
                        : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  copy(recording().at("driver"), version, length);
  return kSuccess;
}
int nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  copy("/usr/bin/program-" + std::to_string(pid), name, length);
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(recording().at("gpus").size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index + 1));
  return code_of(*device);
}
int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  copy(said_of(device, "name"), name, length);
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  copy(said_of(device, "uuid"), uuid, length);
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  if (const int code = code_of(device)) return code;
  const json said = said_of(device, "memory");
  memory[0] = said.at("total");
  memory[2] = said.at("used");
  memory[1] = memory[0] - memory[2];
  return kSuccess;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* pci) {
  copy(said_of(device, "bus_id"), pci->bus_id, sizeof pci->bus_id);
  return kSuccess;
}
int nvmlDeviceGetMemoryAffinity(void* device, unsigned size, unsigned long* nodes, int) {
  const json numa = said_of(device, "numa");
  if (numa.is_null()) return kNotSupported;
  std::fill(nodes, nodes + size, 0UL);
  nodes[numa.get<unsigned>() / 64] = 1UL << (numa.get<unsigned>() % 64);
  return kSuccess;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  if (said_of(device, "links").is_null()) return kNotSupported;
  *active = !link_of(device, link).is_null();
  return kSuccess;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned link, int* type) {
  *type = link_of(device, link) == "switch" ? 2 : 0;
  return kSuccess;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, PciInfo* pci) {
  const json peer = link_of(device, link);
  if (peer.is_null()) return kInvalidArgument;
  copy(peer == "switch" ? json("00000000:07:00.0")
                        : recording()["gpus"].at(peer.get<std::size_t>()).at("bus_id"),
       pci->bus_id, sizeof pci->bus_id);
  return kSuccess;
}
int nvmlDeviceGetTopologyCommonAncestor(void* one, void* other, int* level) {
  *level = recording().at("levels").at(index_of(one)).at(index_of(other));
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[1] = 0;
  return give(device, "utilisation", rates);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* power) { return give(device, "power", power); }
int nvmlDeviceGetTemperature(void* device, int, unsigned* temperature) {
  return give(device, "temperature", temperature);
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int, unsigned long long* count) {
  if (const int code = code_of(device)) return code;
  const json said = said_of(device, "ecc");
  if (said.is_null()) return kNotSupported;
  *count = said.at(static_cast<std::size_t>(type));
  return kSuccess;
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  const json said = said_of(device, "rows");
  if (said.is_null()) return kNotSupported;
  unsigned* const out[] = {corrected, uncorrected, pending, failed};
  for (std::size_t i = 0; i < 4; ++i) *out[i] = said.at(i);
  return kSuccess;
}
int nvmlDeviceGetRetiredPagesPendingStatus(void* device, int* pending) {
  return give(device, "retirement_pending", pending);
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *pending = 0;
  return give(device, "mig", current);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* processes) {
  if (const int code = code_of(device)) return code;
  const json said = said_of(device, "processes");
  const unsigned room = *count;
  *count = static_cast<unsigned>(said.size());
  if (room < said.size()) return kInsufficientSize;
  for (std::size_t i = 0; i < said.size(); ++i)
    processes[i] = {said[i].at("pid"), said[i].at("bytes"), ~0U, ~0U};
  return kSuccess;
}
int nvmlEventSetCreate(void** events) {
  *events = new std::size_t(0);  // how many of the recording's XIDs were told
  return kSuccess;
}
int nvmlEventSetFree(void* events) {
  delete static_cast<std::size_t*>(events);
  return kSuccess;
}
int nvmlDeviceRegisterEvents(void*, unsigned long long types, void*) {
  return types == 0x8 ? kSuccess : kInvalidArgument;
}
int nvmlEventSetWait_v2(void* events, EventData* event, unsigned milliseconds) {
  auto& told = *static_cast<std::size_t*>(events);
  const json xids = recording().at("xids");
  if (told >= xids.size()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return kTimeout;
  }
  const json& xid = xids[told++];
  *event = {reinterpret_cast<void*>(xid.at("gpu").get<std::size_t>() + 1), 0x8,
            xid.at("xid").get<unsigned long long>(), ~0U, ~0U};
  return kSuccess;
}
}
