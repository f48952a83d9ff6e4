// Capture under the shim: a graph does later what was captured, with the arguments of then and what memory
// holds now; what a device refuses to a thread that captures is refused.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>

namespace podium::shim {
namespace {

__global__ void add_scaled(const int* values, int scale, int* sums) {
  sums[threadIdx.x] += scale * values[threadIdx.x];
}

class CudaShimCapture : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override { cudaStreamDestroy(stream_); }

  cudaError_t launch(int scale) {
    const cudaLaunchConfig_t config{1, 4, 0, stream_, nullptr, 0};
    return cudaLaunchKernelEx(&config, add_scaled, values_.data(), scale, sums_.data());
  }
  void begin() { ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess); }
  cudaError_t end(cudaGraph_t* graph) { return cudaStreamEndCapture(stream_, graph); }

  // Captured alone, `call` is refused, and so is the capture.
  template <class Call>
  void expect_refused(const char* what, cudaError_t error, const Call& call) {
    begin();
    EXPECT_EQ(call(), error) << what;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(end(&graph), cudaErrorStreamCaptureInvalidated) << what;
    EXPECT_EQ(graph, nullptr) << what;
  }

  cudaStream_t stream_ = nullptr;
  std::array<int, 4> values_{1, 2, 3, 4};
  std::array<int, 4> sums_{};
  std::array<int, 4> copy_{};
};

TEST_F(CudaShimCapture, DoesLaterWhatWasCaptured) {
  begin();
  int scale = 10;
  ASSERT_EQ(launch(scale), cudaSuccess);
  scale = 100;  // of no account: arguments are copied
  ASSERT_EQ(cudaMemcpyAsync(copy_.data(), sums_.data(), sizeof(copy_), cudaMemcpyDefault, stream_),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(sums_.data(), 0, sizeof(int), stream_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(end(&graph), cudaSuccess);
  EXPECT_EQ(sums_[1], 0) << "capturing does nothing";
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

  ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(copy_, (std::array{10, 20, 30, 40}));
  values_[1] = 5;  // memory is read when the graph runs
  ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(copy_, (std::array{10, 70, 60, 80}));
  EXPECT_EQ(sums_[0], 0);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(CudaShimCapture, RefusesWhatADeviceRefuses) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  const auto unsupported = cudaErrorStreamCaptureUnsupported;
  void* unused = nullptr;
  expect_refused("cudaMalloc", unsupported, [&] { return cudaMalloc(&unused, 64); });
  expect_refused("cudaFree", unsupported, [&] { return cudaFree(memory); });
  expect_refused("cudaMallocHost", unsupported, [&] { return cudaMallocHost(&unused, 64); });
  expect_refused("cudaStreamSynchronize", unsupported, [&] { return cudaStreamSynchronize(stream_); });
  expect_refused("cudaEventQuery", unsupported, [&] { return cudaEventQuery(event); });
  expect_refused("cudaEventSynchronize", unsupported, [&] { return cudaEventSynchronize(event); });
  expect_refused("an event from outside", cudaErrorStreamCaptureIsolation,
                 [&] { return cudaStreamWaitEvent(stream_, event, 0); });
  expect_refused("the default stream", cudaErrorStreamCaptureImplicit,
                 [&] { return cudaMemsetAsync(memory, 0, 64, nullptr); });
  expect_refused("an event that was captured", cudaErrorCapturedEvent, [&] {
    EXPECT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
    return cudaEventSynchronize(event);
  });
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
}  // namespace podium::shim
