// The op suite on the machine's first GPU, by way of libpodium_cuda.so; all of it is skipped where there is
// none. The suite's tensors, labels and sums are ordinary heap memory, which is locked here and shown to the
// GPU under its own addresses, and every launch is waited for, so that the suite need not know where it runs.
// Nothing that an op is given may lie on a stack.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/worker/build_folder.h"
#include "tests/worker/ops/inference_product.h"
#include "worker/ops/device_library.h"

namespace podium::test {
namespace {

constexpr std::size_t kHeapBytes = std::size_t{1} << 30;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Where the program's heap begins, as the kernel tells it.
std::uintptr_t heap_begin() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with("[heap]")) return std::stoull(line, nullptr, 16);
  throw std::runtime_error("/proc/self/maps names no heap");
}

// Before the first thread starts, which would get a heap of its own.
void take_memory_from_one_heap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

// What the heap has taken from the system, also where it could not grow in one piece.
std::size_t heap_bytes() { return mallinfo2().arena; }

void expect_seen_by_device(std::uintptr_t address) {
  void* const memory = reinterpret_cast<void*>(address);
  cudaPointerAttributes seen{};
  check(cudaPointerGetAttributes(&seen, memory), "cannot ask how the GPU sees the heap");
  if (seen.type != cudaMemoryTypeHost || seen.devicePointer != memory)
    throw std::runtime_error("the GPU does not see the heap under the heap's own addresses");
}

// Makes the heap as large as it may become, for the GPU to read and write all of it.
void show_heap_to_device() {
  void* volatile all = std::malloc(kHeapBytes);  // volatile: a compiler may leave out what is freed at once
  if (all == nullptr) throw std::runtime_error("the heap cannot grow to 1 GiB");
  const auto block = reinterpret_cast<std::uintptr_t>(all);
  const std::uintptr_t begin = heap_begin(), end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  std::free(all);
  if (block < begin || block + kHeapBytes > end)
    throw std::runtime_error("the heap cannot grow to 1 GiB in one piece");
  check(cudaHostRegister(reinterpret_cast<void*>(begin), end - begin, cudaHostRegisterDefault),
        "cannot show the heap to the GPU");
  for (const std::uintptr_t address : {begin, block + kHeapBytes / 2, end - 1})
    expect_seen_by_device(address);
}

// A test for which the heap had to grow again fails by this name: what lies there is not the GPU's to read.
class HeapWatch final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    EXPECT_LE(heap_bytes(), shown_) << "the heap has outgrown the " << shown_ << " bytes that the GPU sees";
  }

  const std::size_t shown_ = heap_bytes();
};

// The device that the tests use, or why there is none.
class Gpu final : public testing::Environment {
 public:
  void SetUp() override {
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    take_memory_from_one_heap();
    try {
      ops::DeviceLibrary& library = ops::open_device_library(cuda_library());
      device_ = library.open(library.devices().front().index);
      backend = &library.backend();
    } catch (const ops::DeviceUnavailable& reason) {
      if (std::getenv("PODIUM_TEST_GPU")) FAIL() << reason.what();  // tests/gpu/run: there is one
      GTEST_SKIP() << "skipped: no GPU (" << reason.what() << ")";
    }
    check(cudaSetDevice(device_->description().index), "cannot use the GPU that the library has opened");
    show_heap_to_device();
    testing::UnitTest::GetInstance()->listeners().Append(new HeapWatch);  // GoogleTest deletes it
  }

  const DeviceDescription& description() const { return device_->description(); }

  const ops::Backend* backend = nullptr;

 private:
  std::unique_ptr<Device> device_;
};

Gpu& gpu() {
  static Gpu* const added = new Gpu;  // GoogleTest deletes it
  return *added;
}

[[maybe_unused]] const testing::Environment* const registered = testing::AddGlobalTestEnvironment(&gpu());

}  // namespace

// Hopper's tensor cores align 32 products of FP8 to the largest and keep some 13 bits of each (DeepSeek-V3's
// report, 3.3.2).
const double kFloat8SumTolerance = 1.0 / (1 << 13);

Context make_context(int threads) {
  Context context;
  context.backend = gpu().backend;
  context.threads = threads;
  return context;
}

const ops::cuda::InferenceEntry& inference_entry() {
  void* const library = ::dlopen(cuda_library().c_str(), RTLD_NOW | RTLD_LOCAL);  // it is open already
  void* const entry = library == nullptr ? nullptr : ::dlsym(library, ops::cuda::kInferenceEntry);
  if (entry == nullptr) throw std::runtime_error(::dlerror());
  return *reinterpret_cast<const ops::cuda::InferenceEntry* (*)()>(entry)();
}

bool device_has_e4m3() { return std::stoi(gpu().description().architecture.substr(3)) >= 89; }  // "sm_90"

}  // namespace podium::test
