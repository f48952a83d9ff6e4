// The execution shim itself: kernels with known results, and kernels with each of the mistakes it reports.
#include <cuda_runtime.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "worker/ops/cuda/async_copy.cuh"
#include "worker/ops/cuda/shared.cuh"

namespace podium::shim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class... Parameters, class... Arguments>
cudaError_t launch(dim3 grid, dim3 block, std::size_t shared, void (*kernel)(Parameters...), Arguments... a) {
  const cudaLaunchConfig_t config{grid, block, shared, nullptr, nullptr, 0};
  return cudaLaunchKernelEx(&config, kernel, a...);
}

__global__ void number_threads(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1 + block * 1000 + thread;
}

TEST(CudaShim, RunsEveryThreadOfEveryBlockOnce) {
  std::vector<unsigned> out(12 * 24);
  ASSERT_EQ(launch(dim3(3, 2, 2), dim3(4, 3, 2), 0, number_threads, out.data()), cudaSuccess);
  for (unsigned block = 0; block < 12; ++block)
    for (unsigned thread = 0; thread < 24; ++thread)
      EXPECT_EQ(out[block * 24 + thread], 1 + block * 1000 + thread);
}

// The sum of a block's values by a tree in static shared memory.
__global__ void block_sum(const int* values, int* sums) {
  __shared__ int part[256];
  part[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

TEST(CudaShim, SharesMemoryBetweenBarriers) {
  std::vector<int> values(512);
  std::iota(values.begin(), values.end(), 0);
  const auto bytes = results_in_every_order([&] {
    std::vector<int> sums(2);
    launch(2, 256, 0, block_sum, static_cast<const int*>(values.data()), sums.data());
    const auto* const begin = reinterpret_cast<const std::byte*>(sums.data());
    return std::vector<std::byte>(begin, begin + sums.size() * sizeof(int));
  });
  const int* const sums = reinterpret_cast<const int*>(bytes.data());
  EXPECT_EQ(sums[0], 255 * 256 / 2);
  EXPECT_EQ(sums[1], 255 * 256 / 2 + 256 * 256);
}

// The same mistakenly without the barrier between two levels of the tree.
__global__ void racy_sum(const int* values, int* sums) {
  __shared__ int part[256];
  part[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[0] = part[0];
}

TEST(CudaShim, ReportsARace) {
  std::vector<int> values(256);
  std::iota(values.begin(), values.end(), 0);
  const auto run = [&] {
    std::vector<std::byte> sum(sizeof(int));
    launch(1, 256, 0, racy_sum, static_cast<const int*>(values.data()), reinterpret_cast<int*>(sum.data()));
    return sum;
  };
  EXPECT_THAT([&] { results_in_every_order(run); },
              ThrowsMessage<KernelError>(HasSubstr("depends on the order of threads, from byte 0")));
}

__global__ void half_a_barrier() {
  if (threadIdx.x < 10) __syncthreads();
}

TEST(CudaShim, ReportsABarrierThatSomeThreadsNeverReach) {
  EXPECT_THAT([] { launch(1, 64, 0, half_a_barrier); },
              ThrowsMessage<KernelError>(AllOf(HasSubstr("block (0, 0, 0) diverged"),
                                               HasSubstr("54 threads returned"),
                                               HasSubstr("10 threads wait in __syncthreads at "))));
}

__global__ void two_barriers() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(CudaShim, ReportsThreadsAtDifferentBarriers) {
  EXPECT_THAT([] { launch(1, 64, 0, two_barriers); },
              ThrowsMessage<KernelError>(HasSubstr("32 threads wait in __syncthreads at ")));
}

struct WarpResults {
  int xored, up, down, broadcast, any, all;
  unsigned ballot;
};

__global__ void warp_operations(WarpResults* out) {
  const int value = static_cast<int>(threadIdx.x) * 10;
  const int bit = static_cast<int>(threadIdx.x % 32);
  out[threadIdx.x] = {__shfl_xor_sync(0xffffffffU, value, 1),     __shfl_up_sync(0xffffffffU, value, 2),
                      __shfl_down_sync(0xffffffffU, value, 1, 8), __shfl_sync(0xffffffffU, value, 5),
                      __any_sync(0xffffffffU, bit == 7),          __all_sync(0xffffffffU, bit < 31),
                      __ballot_sync(0xffffffffU, bit % 4 == 0)};
}

TEST(CudaShim, ShufflesAndVotesWithinAWarp) {
  std::vector<WarpResults> out(64);
  launch(1, 64, 0, warp_operations, out.data());
  const WarpResults& r = out[33];  // lane 1 of the second warp
  EXPECT_EQ(r.xored, 320);
  EXPECT_EQ(r.up, 330) << "no lane two below: its own";
  EXPECT_EQ(out[34].up, 320);
  EXPECT_EQ(r.down, 340);
  EXPECT_EQ(out[39].down, 390) << "the last of a segment of 8 keeps its own";
  EXPECT_EQ(r.broadcast, 370);
  EXPECT_EQ(r.any, 1);
  EXPECT_EQ(r.all, 0);
  EXPECT_EQ(r.ballot, 0x11111111U);
}

__global__ void half_a_warp(unsigned* out) {
  const bool low = threadIdx.x < 16;
  out[threadIdx.x] = low ? __ballot_sync(0xffffU, 1) : __ballot_sync(0xffff0000U, threadIdx.x % 2);
}

TEST(CudaShim, LetsPartsOfAWarpMeetApart) {
  std::vector<unsigned> out(32);
  launch(1, 32, 0, half_a_warp, out.data());
  EXPECT_EQ(out[3], 0xffffU);
  EXPECT_EQ(out[20], 0xaaaa0000U);
}

__global__ void divergent_shuffle(int* out) {
  if (threadIdx.x < 31) out[threadIdx.x] = __shfl_xor_sync(0xffffffffU, 1, 1);
}
__global__ void stranger_in_shuffle(int* out) { out[threadIdx.x] = __shfl_sync(0xfU, 1, 0); }

TEST(CudaShim, ReportsLanesThatAWarpOperationWaitsForInVain) {
  std::vector<int> out(32);
  EXPECT_THAT([&] { launch(1, 32, 0, divergent_shuffle, out.data()); },
              ThrowsMessage<KernelError>(HasSubstr("31 threads wait in __shfl_xor_sync at ")));
  EXPECT_THAT([&] { launch(1, 32, 0, stranger_in_shuffle, out.data()); },
              ThrowsMessage<KernelError>(HasSubstr("whose mask leaves it out")));
  EXPECT_THAT([&] { launch(1, 16, 0, divergent_shuffle, out.data()); },
              ThrowsMessage<KernelError>(HasSubstr("a lane that the block lacks")));
}

__global__ void count_atomically(int* count, unsigned* ticket) {
  atomicAdd(count, 2);
  __threadfence();
  if (atomicAdd(ticket, 1U) == gridDim.x * blockDim.x - 1) *count = -*count;  // the last thread of all
}

TEST(CudaShim, CountsAtomically) {
  int count = 0;
  unsigned ticket = 0;
  launch(5, 40, 0, count_atomically, &count, &ticket);
  EXPECT_EQ(count, -400);
}

__global__ void fill_shared(unsigned* out, unsigned words) {
  auto* const shared = reinterpret_cast<unsigned*>(ops::cuda::dynamic_shared);
  if (threadIdx.x == 0) out[0] = shared[0];
  __syncthreads();
  if (threadIdx.x < words) shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[1] = shared[words - 1];
}

TEST(CudaShim, GivesDynamicSharedMemoryThatHoldsNothingYet) {
  std::vector<unsigned> out(2);
  ASSERT_EQ(launch(2, 32, 32 * 4, fill_shared, out.data(), 32U), cudaSuccess);
  EXPECT_EQ(out[0], 0xffffffffU) << "a NaN, for the second block too";
  EXPECT_EQ(out[1], 31U);
}

#if !defined(__SANITIZE_ADDRESS__)  // which ends the process at the write itself
TEST(CudaShim, ReportsAWriteBeyondDynamicSharedMemory) {
  std::vector<unsigned> out(2);
  EXPECT_THAT(
      [&] { launch(1, 32, 31 * 4, fill_shared, out.data(), 32U); },
      ThrowsMessage<KernelError>(HasSubstr("wrote byte 124 of dynamic shared memory, which has 124")));
}
#endif

// Each thread copies a word and reads its neighbour's; `mistake` leaves out the wait (1) or the barrier (2),
// or asks for the next copy while the last is being read (3).
__global__ void copy_words(const unsigned* words, unsigned* out, int mistake) {
  auto* const shared = reinterpret_cast<unsigned*>(ops::cuda::dynamic_shared);
  const unsigned thread = threadIdx.x, neighbour = (thread + 1) % blockDim.x;
  ops::cuda::copy_async<4>(shared + thread, words + thread, thread != 5);
  ops::cuda::commit_copies();
  if (mistake == 1) {
    ops::cuda::wait_for_copies<1>();
  } else {
    ops::cuda::wait_for_copies<0>();
  }
  if (mistake != 2) __syncthreads();
  if (mistake == 3) ops::cuda::copy_async<4>(shared + thread, words, true);
  out[thread] = shared[neighbour];
}

std::vector<std::byte> run_copy_words(int mistake) {
  std::vector<unsigned> words(64), out(64);
  std::iota(words.begin(), words.end(), 100U);
  launch(1, 64, 64 * 4, copy_words, static_cast<const unsigned*>(words.data()), out.data(), mistake);
  const auto* const begin = reinterpret_cast<const std::byte*>(out.data());
  return std::vector<std::byte>(begin, begin + out.size() * sizeof(unsigned));
}

TEST(CudaShim, CopiesAsynchronously) {
  const std::vector<std::byte> bytes = results_in_every_order([] { return run_copy_words(0); });
  const auto* const out = reinterpret_cast<const unsigned*>(bytes.data());
  EXPECT_EQ(out[0], 101U);
  EXPECT_EQ(out[63], 100U);
  EXPECT_EQ(out[4], 0U) << "zeros where there is nothing to copy";
}

TEST(CudaShim, ReportsMistakesWithAsynchronousCopies) {
  for (const int mistake : {1, 2, 3}) {
    EXPECT_THAT([&] { results_in_every_order([&] { return run_copy_words(mistake); }); },
                ThrowsMessage<KernelError>(HasSubstr("depends on the order of threads")))
        << mistake;
  }
}

TEST(CudaShim, KeepsTheHostOutOfDeviceMemory) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64 * sizeof(unsigned)), cudaSuccess);
  auto* const words = static_cast<unsigned*>(memory);
  EXPECT_DEATH(words[3] = 1, "");
  std::vector<unsigned> out(64, 7);
  ASSERT_EQ(cudaMemcpyAsync(words, out.data(), out.size() * sizeof(unsigned), cudaMemcpyDefault, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(words + 32, 0, 32 * sizeof(unsigned), nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(out.data(), words, out.size() * sizeof(unsigned), cudaMemcpyDefault, nullptr),
            cudaSuccess);
  EXPECT_EQ(out[31], 7U);
  EXPECT_EQ(out[32], 0U);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudaShim, RefusesLaunchesThatADeviceRefuses) {
  std::vector<unsigned> out(2);
  EXPECT_EQ(launch(1, 2048, 0, fill_shared, out.data(), 32U), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(0), 32, 0, fill_shared, out.data(), 32U), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(1, 32, 64 << 10, fill_shared, out.data(), 32U), cudaErrorInvalidValue)
      << "without opting in";
  const auto* const kernel = reinterpret_cast<const void*>(fill_shared);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
  EXPECT_EQ(launch(1, 32, 64 << 10, fill_shared, out.data(), 32U), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace podium::shim
