#include "tests/cuda_shim/device_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace podium::shim {
namespace {

constexpr std::size_t kReserved = std::size_t{8} << 30;  // of addresses; pages come when they are used
constexpr std::size_t kUnit = 4096;

// One range of addresses, cut into blocks from its beginning.
class DeviceMemory {
 public:
  DeviceMemory() {
    void* const memory =
        ::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::perror("reserving addresses for device memory"), std::abort();
    begin_ = static_cast<std::byte*>(memory);
  }

  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = (bytes + kUnit - 1) / kUnit * kUnit;
    std::byte* memory = nullptr;
    if (const auto found = free_.lower_bound(size); found != free_.end() && found->first == size) {
      memory = found->second;
      free_.erase(found);
    } else {
      if (used_ + size > kReserved) return nullptr;
      memory = begin_ + used_;
      used_ += size;
    }
    sizes_[memory] = size;
    if (open_ > 0) protect(PROT_READ | PROT_WRITE);
    return memory;
  }

  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(static_cast<std::byte*>(memory));
    if (found == sizes_.end()) std::fputs("cudaFree of what is no device memory\n", stderr), std::abort();
    free_.emplace(found->second, found->first);
    sizes_.erase(found);
  }

  bool contains(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    return byte >= begin_ && byte < begin_ + kReserved;
  }

  void open() {
    const std::lock_guard lock(mutex_);
    if (open_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) protect(PROT_NONE);
  }

 private:
  void protect(int access) {
    if (used_ > 0 && ::mprotect(begin_, used_, access) != 0)
      std::perror("protecting device memory"), std::abort();
  }

  std::mutex mutex_;
  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;
  int open_ = 0;
  std::multimap<std::size_t, std::byte*> free_;
  std::map<std::byte*, std::size_t> sizes_;
};

DeviceMemory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

}  // namespace

namespace {
std::atomic<std::size_t> largest_allocation = ~std::size_t{0};
}

FullDevice::FullDevice(std::size_t largest) { largest_allocation = largest; }
FullDevice::~FullDevice() { largest_allocation = ~std::size_t{0}; }

void* allocate_device_memory(std::size_t bytes) {
  if (bytes > largest_allocation) return nullptr;
  void* const memory = device_memory().allocate(bytes);
  if (memory == nullptr) return nullptr;
  const DeviceAccess access;
  std::memset(memory, 0xFF, bytes);
  return memory;
}

void free_device_memory(void* memory) {
  if (memory != nullptr) device_memory().free(memory);
}

bool is_device_memory(const void* address) { return device_memory().contains(address); }

DeviceAccess::DeviceAccess() { device_memory().open(); }
DeviceAccess::~DeviceAccess() { device_memory().close(); }

}  // namespace podium::shim
