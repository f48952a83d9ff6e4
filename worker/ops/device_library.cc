#include "worker/ops/device_library.h"

#include <dlfcn.h>

namespace podium::ops {
namespace {

constexpr const char* kCudaLibrary = "libpodium_cuda.so";

template <class Entry>
Entry* find_entry(void* library, const char* name, const std::string& file) {
  void* const address = ::dlsym(library, name);
  if (address == nullptr)
    throw DeviceUnavailable(file + " is no device back end of Podium: it lacks " + name);
  return reinterpret_cast<Entry*>(address);
}

}  // namespace

std::string_view device_library_build() { return PODIUM_DEVICE_LIBRARY_BUILD; }

std::filesystem::path cuda_library_path() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path beside = folder / kCudaLibrary;
  return exists(beside) ? beside : folder.parent_path() / "lib" / "podium" / kCudaLibrary;
}

DeviceLibrary& open_device_library(const std::filesystem::path& path) {
  const std::string file = path.string();
  if (!exists(path))
    throw DeviceUnavailable(
        "this worker computes on the CPU only, for " + file +
        " is not there: build with the preset cuda, or compute on the CPU (resources.kind: cpu in a spec, a "
        "command without --gpu)");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw DeviceUnavailable("cannot open the device back end: " + std::string(::dlerror()) +
                            "; where it names another library, install that (CUDA 13 has libcublasLt)");
  const std::string_view build = find_entry<const char*()>(library, kLibraryBuildEntry, file)();
  if (build != device_library_build())
    throw DeviceUnavailable(file + " is of build " + std::string(build) + ", this worker of " +
                            std::string(device_library_build()) + ": install both from one build");
  return *find_entry<DeviceLibrary*()>(library, kLibraryEntry, file)();
}

}  // namespace podium::ops
