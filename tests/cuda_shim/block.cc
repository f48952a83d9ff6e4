#include "tests/cuda_shim/block.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "tests/cuda_shim/async_copies.h"
#include "tests/cuda_shim/fiber.h"
#include "worker/ops/cuda/shared.cuh"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace podium::ops::cuda {
alignas(1024) thread_local unsigned char dynamic_shared[shim::kSharedBytes + 1024];
}

namespace podium::shim {
namespace {

constexpr std::size_t kGuardBytes = 1024;   // after dynamic shared memory, watched for writes
constexpr unsigned char kUnwritten = 0xFF;  // a NaN in every float type

enum class State { ready, at_barrier, in_warp, done };

struct Thread {
  Fiber fiber;
  Index3 index;
  State state = State::ready;
  // While it waits:
  const char* operation = "";
  std::source_location place;
  std::uint32_t mask = 0;
  void* slot = nullptr;
  AsyncCopies copies;
};

std::string name(const Index3& i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
}

bool same_text(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }

bool same_place(const Thread& a, const Thread& b) {
  return a.place.line() == b.place.line() && a.place.column() == b.place.column() &&
         same_text(a.place.file_name(), b.place.file_name());
}

class Block {
 public:
  void run(Extent3 extent, const std::function<void()>& kernel, Order order);
  void meet_block(const char* operation, const std::source_location& place, void* slot, Combine combine);
  void meet_warp(const char* operation, const std::source_location& place, std::uint32_t mask, void* slot,
                 Combine combine);
  AsyncCopies& copies() { return threads_[current_]->copies; }
  unsigned lane() const { return static_cast<unsigned>(current_ % kWarpSize); }

 private:
  static void enter(void* self);
  void prepare(Extent3 extent);
  void wait(State state);
  bool resume_ready(const std::vector<std::size_t>& order);
  [[noreturn]] void report_stuck() const;

  std::vector<std::unique_ptr<Thread>> threads_;  // kept for the next block, whatever its size
  std::vector<std::uint32_t> in_warp_;            // of each warp: the lanes that wait in an operation
  std::size_t count_ = 0;
  std::size_t current_ = 0;
  std::size_t at_barrier_ = 0;
  const std::function<void()>* kernel_ = nullptr;
  std::exception_ptr error_;
};

void Block::enter(void* self) {
  auto& block = *static_cast<Block*>(self);
  try {
    (*block.kernel_)();
  } catch (...) {
    block.error_ = std::current_exception();
  }
  block.threads_[block.current_]->state = State::done;
}

void Block::prepare(Extent3 extent) {
  count_ = extent.count();
  at_barrier_ = 0;
  error_ = nullptr;
  in_warp_.assign((count_ + kWarpSize - 1) / kWarpSize, 0);
  while (threads_.size() < count_) threads_.push_back(std::make_unique<Thread>());
  for (std::size_t i = 0; i < count_; ++i) {
    Thread& thread = *threads_[i];
    const auto number = static_cast<unsigned>(i);
    thread.index = {number % extent.x, number / extent.x % extent.y, number / extent.x / extent.y};
    thread.state = State::ready;
    thread.copies.clear();
    thread.fiber.start(&Block::enter, this);
  }
}

std::vector<std::size_t> order_of(std::size_t count, Order order) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (order == Order::descending) std::reverse(indices.begin(), indices.end());
  if (order == Order::shuffled) std::shuffle(indices.begin(), indices.end(), std::mt19937(1));
  return indices;
}

void Block::run(Extent3 extent, const std::function<void()>& kernel, Order order) {
  kernel_ = &kernel;
  prepare(extent);
  const std::vector<std::size_t> indices = order_of(count_, order);
  while (resume_ready(indices)) {
  }
  if (error_) std::rethrow_exception(error_);
  const auto done = [](const std::unique_ptr<Thread>& thread) { return thread->state == State::done; };
  if (!std::all_of(threads_.begin(), threads_.begin() + static_cast<std::ptrdiff_t>(count_), done))
    report_stuck();
}

// Whether any thread could run.
bool Block::resume_ready(const std::vector<std::size_t>& order) {
  bool any = false;
  for (const std::size_t i : order) {
    Thread& thread = *threads_[i];
    if (thread.state != State::ready) continue;
    any = true;
    current_ = i;
    threadIdx = thread.index;
    thread.fiber.resume();
    if (error_) return false;
  }
  return any;
}

// Threads that meet run again only when the others have met them, so a local name for one is safe.
void Block::wait(State state) {
  Thread& thread = *threads_[current_];
  thread.state = state;
  while (thread.state != State::ready) thread.fiber.pause();
}

void Block::meet_block(const char* operation, const std::source_location& place, void* slot,
                       Combine combine) {
  Thread& self = *threads_[current_];
  self.operation = operation;
  self.place = place;
  self.slot = slot;
  if (++at_barrier_ < count_) return wait(State::at_barrier);
  Slots slots{};
  for (std::size_t i = 0; i < count_; ++i) {
    if (!same_place(*threads_[i], self)) {
      self.state = State::at_barrier;
      report_stuck();
    }
    slots[i] = threads_[i]->slot;
  }
  combine(slots, count_);
  for (std::size_t i = 0; i < count_; ++i) threads_[i]->state = State::ready;
  at_barrier_ = 0;
}

void Block::meet_warp(const char* operation, const std::source_location& place, std::uint32_t mask,
                      void* slot, Combine combine) {
  Thread& self = *threads_[current_];
  self.operation = operation;
  self.place = place;
  self.mask = mask;
  self.slot = slot;
  if ((mask >> lane() & 1U) == 0) fail("a thread calls a warp operation whose mask leaves it out", place);
  const std::size_t first = current_ - lane();
  std::uint32_t& waiting = in_warp_[current_ / kWarpSize];
  waiting |= 1U << lane();
  if ((waiting & mask) != mask && first + kWarpSize <= count_) return wait(State::in_warp);
  Slots slots;
  std::fill_n(slots.begin(), kWarpSize, nullptr);
  for (std::size_t i = 0; i < kWarpSize; ++i) {
    if ((mask >> i & 1U) == 0) continue;
    if (first + i >= count_) fail("the mask of a warp operation names a lane that the block lacks", place);
    const Thread& other = *threads_[first + i];
    const bool here = &other == &self || (other.state == State::in_warp && other.mask == mask &&
                                          same_text(other.operation, operation) && same_place(other, self));
    if (!here) return wait(State::in_warp);
    slots[i] = other.slot;
  }
  combine(slots, kWarpSize);
  for (std::size_t i = 0; i < kWarpSize; ++i) {
    if (slots[i] != nullptr) threads_[first + i]->state = State::ready;
  }
  waiting &= ~mask;
}

void Block::report_stuck() const {
  std::map<std::string, std::size_t> groups;
  for (std::size_t i = 0; i < count_; ++i) {
    const Thread& thread = *threads_[i];
    const std::string where = std::string(thread.operation) + " at " + thread.place.file_name() + ":" +
                              std::to_string(thread.place.line());
    groups[thread.state == State::done ? "returned" : "wait in " + where] += 1;
  }
  std::string text = "block " + name(blockIdx) + " diverged:";
  for (const auto& [what, threads] : groups) text += "\n  " + std::to_string(threads) + " threads " + what;
  throw KernelError(text);
}

thread_local Block* running = nullptr;
thread_local Order launch_order = Order::ascending;

// Shared memory starts as NaNs, and so does a guard after it, which must stay so.
void prepare_shared(std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(dynamic_shared_memory(), kSharedBytes + kGuardBytes);
#endif
  std::memset(dynamic_shared_memory(), kUnwritten, bytes + kGuardBytes);
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(dynamic_shared_memory() + bytes, kGuardBytes);
#endif
}

void check_guard(std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(dynamic_shared_memory(), kSharedBytes + kGuardBytes);
#endif
  const std::byte* const guard = dynamic_shared_memory() + bytes;
  const auto* const hit =
      std::find_if(guard, guard + kGuardBytes, [](std::byte b) { return b != std::byte{kUnwritten}; });
  if (hit == guard + kGuardBytes) return;
  throw KernelError("block " + name(blockIdx) + " wrote byte " +
                    std::to_string(hit - dynamic_shared_memory()) + " of dynamic shared memory, which has " +
                    std::to_string(bytes));
}

std::vector<std::byte> results_in(Order order, const std::function<std::vector<std::byte>()>& run) {
  set_order(order);
  std::vector<std::byte> results = run();
  set_order(Order::ascending);
  return results;
}

}  // namespace

std::byte* dynamic_shared_memory() { return reinterpret_cast<std::byte*>(ops::cuda::dynamic_shared); }

void set_order(Order order) { launch_order = order; }

unsigned lane() { return running->lane(); }

void fail(const std::string& what, const std::source_location& place) {
  throw KernelError(what + ": " + place.file_name() + ":" + std::to_string(place.line()) + ", block " +
                    name(blockIdx) + ", thread " + name(threadIdx));
}

void run_grid(Extent3 grid, Extent3 block, std::size_t shared_bytes, const std::function<void()>& kernel) {
  static thread_local Block runner;
  running = &runner;
  gridDim = grid;
  blockDim = block;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        prepare_shared(shared_bytes);
        runner.run(block, kernel, launch_order);
        check_guard(shared_bytes);
      }
}

std::vector<std::byte> results_in_every_order(const std::function<std::vector<std::byte>()>& run) {
  const std::vector<std::byte> expected = results_in(Order::ascending, run);
  for (const Order order : {Order::descending, Order::shuffled}) {
    const std::vector<std::byte> actual = results_in(order, run);
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
    if (a != expected.end() || b != actual.end())
      throw KernelError("the result depends on the order of threads, from byte " +
                        std::to_string(a - expected.begin()) + " on: is a barrier missing?");
  }
  return expected;
}

void copy_async(void* to, const void* from, std::size_t bytes, bool filled) {
  for (const void* const address : {static_cast<const void*>(to), from})
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
      throw KernelError("cp.async of an address that is not aligned to the " + std::to_string(bytes) +
                        " bytes copied");
  running->copies().add({to, from, bytes, filled}, launch_order);
}

void commit_copies() { running->copies().commit(launch_order); }

void wait_for_copies(std::size_t pending) { running->copies().wait(pending); }

void meet_block(const char* operation, const std::source_location& place, void* slot, Combine combine) {
  running->meet_block(operation, place, slot, combine);
}

void meet_warp(const char* operation, const std::source_location& place, std::uint32_t mask, void* slot,
               Combine combine) {
  running->meet_warp(operation, place, mask, slot, combine);
}

}  // namespace podium::shim
