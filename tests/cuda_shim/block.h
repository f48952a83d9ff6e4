// Runs the threads of one CUDA block as fibers on the calling thread, and blocks one after another. A thread
// runs until it must meet others: at a barrier (all threads of the block) or a warp operation (the lanes of
// its mask). What the hardware leaves undefined is a KernelError here: a barrier or a warp operation that
// some of its threads never reach, or reach somewhere else, and a write beyond dynamic shared memory.
//
// Between two meetings threads run one after another in the launch's order, so a kernel that forgot a barrier
// gives different results under different orders; results_in_every_order() compares them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

namespace podium::shim {

struct KernelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};
struct Extent3 {
  unsigned x = 1, y = 1, z = 1;
  std::size_t count() const { return std::size_t{x} * y * z; }
};

}  // namespace podium::shim

// Of the thread that runs, as kernels call them.
inline thread_local podium::shim::Index3 threadIdx;
inline thread_local podium::shim::Index3 blockIdx;
inline thread_local podium::shim::Extent3 blockDim;
inline thread_local podium::shim::Extent3 gridDim;

namespace podium::shim {

inline constexpr unsigned kWarpSize = 32;
inline constexpr std::size_t kMaxThreads = 1024;
inline constexpr std::size_t kSharedBytes = 227 << 10;  // of a Hopper block; an Ampere one has 163 KiB

enum class Order { ascending, descending, shuffled };
void set_order(Order order);  // of the calling thread's launches from now on; ascending at first

void run_grid(Extent3 grid, Extent3 block, std::size_t shared_bytes, const std::function<void()>& kernel);

// The bytes that `run` returns, which must be the same under every order, else KernelError says where they
// differ. `run` starts from the same inputs each time.
std::vector<std::byte> results_in_every_order(const std::function<std::vector<std::byte>()>& run);

// A slot for each thread of the meeting; null for a lane outside of the mask.
using Slots = std::array<void*, kMaxThreads>;
using Combine = void (*)(Slots& slots, std::size_t count);

// The calling thread waits here until all threads of its block have come to this operation at this place;
// the last of them combines what all brought.
void meet_block(const char* operation, const std::source_location& place, void* slot, Combine combine);
// The same among the lanes of `mask` in the calling thread's warp.
void meet_warp(const char* operation, const std::source_location& place, std::uint32_t mask, void* slot,
               Combine combine);

// Copies to shared memory, which the calling thread asks for and waits for in groups; see async_copies.h.
void copy_async(void* to, const void* from, std::size_t bytes, bool filled);
void commit_copies();
void wait_for_copies(std::size_t pending);

unsigned lane();  // of the calling thread in its warp

[[noreturn]] void fail(const std::string& what, const std::source_location& place);

// The dynamic shared memory of the block that runs, which kernels declare as in worker/ops/cuda/shared.cuh.
std::byte* dynamic_shared_memory();

}  // namespace podium::shim
