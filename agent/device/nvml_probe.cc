#include "agent/device/nvml_probe.h"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace podium {
namespace {

// The few declarations of nvml.h used here; its C interface is stable across drivers.
using NvmlReturn = int;  // 0: success
using NvmlDevice = void*;
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
constexpr std::size_t kNameLength = 96;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

class Nvml {
 public:
  explicit Nvml(const std::string& name) : library_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(::dlerror());
    load(init_, "nvmlInit_v2");
    load(shutdown_, "nvmlShutdown");
    load(error_string_, "nvmlErrorString");
    load(count_, "nvmlDeviceGetCount_v2");
    load(handle_, "nvmlDeviceGetHandleByIndex_v2");
    load(name_, "nvmlDeviceGetName");
    load(uuid_, "nvmlDeviceGetUUID");
    load(memory_, "nvmlDeviceGetMemoryInfo");
    load(driver_version_, "nvmlSystemGetDriverVersion");
    expect(init_(), "nvmlInit");
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() { shutdown_(); }

  unsigned count() const {
    unsigned count = 0;
    expect(count_(&count), "nvmlDeviceGetCount");
    return count;
  }

  std::string driver_version() const {
    std::array<char, kNameLength> text{};
    expect(driver_version_(text.data(), text.size()), "nvmlSystemGetDriverVersion");
    return text.data();
  }

  void describe(unsigned index, Device& device) const {
    NvmlDevice handle = nullptr;
    expect(handle_(index, &handle), "nvmlDeviceGetHandleByIndex");
    std::array<char, kNameLength> text{};
    expect(name_(handle, text.data(), text.size()), "nvmlDeviceGetName");
    device.model = text.data();
    expect(uuid_(handle, text.data(), text.size()), "nvmlDeviceGetUUID");
    device.uuid = text.data();
    NvmlMemory memory{};
    expect(memory_(handle, &memory), "nvmlDeviceGetMemoryInfo");
    device.memory_bytes = static_cast<std::int64_t>(memory.total);
  }

 private:
  template <class Function>
  void load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_.get(), name));
    if (!function) throw std::runtime_error(fmt::format("the driver's library lacks {}", name));
  }

  void expect(NvmlReturn result, const char* what) const {
    if (result != 0) throw std::runtime_error(fmt::format("{}: {}", what, error_string_(result)));
  }

  std::unique_ptr<void, CloseLibrary> library_;
  NvmlReturn (*init_)() = nullptr;
  NvmlReturn (*shutdown_)() = nullptr;
  const char* (*error_string_)(NvmlReturn) = nullptr;
  NvmlReturn (*count_)(unsigned*) = nullptr;
  NvmlReturn (*handle_)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*name_)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*uuid_)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*memory_)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlReturn (*driver_version_)(char*, unsigned) = nullptr;
};

}  // namespace

Discovery NvmlProbe::discover() {
  Discovery found;
  try {
    const Nvml nvml(library_);
    const unsigned count = nvml.count();
    for (unsigned index = 0; index < count; ++index) {
      Device device;
      device.kind = "gpu";
      device.model = "NVIDIA GPU";
      try {
        nvml.describe(index, device);
      } catch (const std::runtime_error& error) {
        device.health = error.what();
      }
      found.devices.push_back(std::move(device));
    }
    found.notes.push_back(fmt::format("{} NVIDIA GPU(s), driver {}", count, nvml.driver_version()));
  } catch (const std::runtime_error& error) {
    found.devices.clear();
    found.notes.push_back(fmt::format("no NVIDIA GPUs: {}", error.what()));
  }
  return found;
}

}  // namespace podium
