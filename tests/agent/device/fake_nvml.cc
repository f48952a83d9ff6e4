// libnvidia-ml.so.1 as a machine with two H200 answered, the second of them fallen off the bus.
// FAKE_NVML_INIT makes nvmlInit return that number.
#include <cstdlib>
#include <cstring>

extern "C" {

int nvmlInit_v2() {
  const char* result = std::getenv("FAKE_NVML_INIT");
  return result ? std::atoi(result) : 0;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int result) {
  return result == 15 ? "GPU is lost" : result == 9 ? "Driver Not Loaded" : "Unknown Error";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index == 1) return 15;
  *device = reinterpret_cast<void*>(static_cast<std::size_t>(index + 1));
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::strncpy(name, "NVIDIA H200", length);
  return 0;
}
int nvmlDeviceGetUUID(void*, char* uuid, unsigned length) {
  std::strncpy(uuid, "GPU-6ab2e8a1-5f04-7c41-a3a0-6c2c6ad1b3c5", length);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 150'754'820'096ULL;
  memory[1] = 150'000'000'000ULL;
  memory[2] = 754'820'096ULL;
  return 0;
}
int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "550.90.07", length);
  return 0;
}
}
