// A span of a stream's time.
#pragma once

#include <cuda_runtime.h>

#include "worker/ops/cuda/state.h"

namespace podium::ops::cuda {

class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaEventCreate(&begin_), "making an event");
    check_cuda(cudaEventCreate(&end_), "making an event");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() { check_cuda(cudaEventRecord(begin_, stream_), "recording an event"); }
  float stop_ms() {
    float duration_ms = 0.0F;
    check_cuda(cudaEventRecord(end_, stream_), "recording an event");
    check_cuda(cudaEventSynchronize(end_), "timing a product");
    check_cuda(cudaEventElapsedTime(&duration_ms, begin_, end_), "timing a product");
    return duration_ms;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace podium::ops::cuda
