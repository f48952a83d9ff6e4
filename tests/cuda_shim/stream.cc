// Streams, events and graphs. A stream does at once what is put on it; while it is captured it keeps that,
// with the values of all arguments, and launching the graph does it. What a device refuses to a thread that
// captures is refused here: to allocate, free or wait, to look at an event, to use the default stream.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tests/cuda_shim/runtime.h"

struct CudaShimGraph {
  std::vector<std::function<void()>> work;
};
struct CudaShimStream {
  std::unique_ptr<CudaShimGraph> capture;  // while it is captured
  bool failed = false;                     // the capture
};
struct CudaShimEvent {
  bool captured = false;  // the last time it was recorded
  double at_ms = 0;       // likewise, by the made-up clock
};

namespace podium::shim {
namespace {

thread_local cudaStream_t capturing = nullptr;  // by this thread
thread_local double clock_ms = 0;

cudaError_t fail_capture(cudaError_t error) {
  if (capturing != nullptr) capturing->failed = true;
  return error;
}

bool is_captured(cudaStream_t stream) { return stream != nullptr && stream->capture != nullptr; }

}  // namespace

cudaError_t check_not_capturing() {
  return capturing == nullptr ? cudaSuccess : fail_capture(cudaErrorStreamCaptureUnsupported);
}

void pass_time(double ms) { clock_ms += ms; }
double time_ms() { return clock_ms; }

cudaError_t put_on(cudaStream_t stream, std::function<void()> work) {
  if (is_captured(stream)) {
    stream->capture->work.push_back(std::move(work));
    return cudaSuccess;
  }
  if (stream == nullptr && capturing != nullptr) return fail_capture(cudaErrorStreamCaptureImplicit);
  const DeviceAccess access;
  work();
  return cudaSuccess;
}

}  // namespace podium::shim

using podium::shim::capturing;
using podium::shim::check_not_capturing;
using podium::shim::fail_capture;
using podium::shim::is_captured;
using podium::shim::put_on;

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return put_on(stream, [=] { std::memcpy(to, from, bytes); });
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return put_on(stream, [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CudaShimStream;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return check_not_capturing(); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CudaShimEvent;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventElapsedTime(float* duration_ms, cudaEvent_t begin, cudaEvent_t end) {
  *duration_ms = static_cast<float>(end->at_ms - begin->at_ms);
  return check_not_capturing();
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->captured = is_captured(stream);
  event->at_ms = podium::shim::clock_ms;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return event->captured ? fail_capture(cudaErrorCapturedEvent) : check_not_capturing();
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return is_captured(stream) && !event->captured ? fail_capture(cudaErrorStreamCaptureIsolation)
                                                 : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr) return cudaErrorStreamCaptureUnsupported;
  if (capturing != nullptr || is_captured(stream)) return cudaErrorIllegalState;
  stream->capture = std::make_unique<CudaShimGraph>();
  stream->failed = false;
  capturing = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!is_captured(stream) || capturing != stream) return cudaErrorIllegalState;
  const std::unique_ptr<CudaShimGraph> captured = std::exchange(stream->capture, nullptr);
  capturing = nullptr;
  if (stream->failed) return cudaErrorStreamCaptureInvalidated;
  *graph = new CudaShimGraph(*captured);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CudaShimGraph(*graph);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return cudaGraphDestroy(executable); }

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (is_captured(stream)) return fail_capture(cudaErrorStreamCaptureUnsupported);
  for (const std::function<void()>& work : executable->work)
    if (const cudaError_t error = put_on(stream, work); error != cudaSuccess) return error;
  return cudaSuccess;
}
