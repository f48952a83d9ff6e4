#include "worker/ops/cuda/cuda_device.h"
#include "worker/ops/cuda/state.h"
#include "worker/ops/device_library.h"

namespace podium::ops::cuda {
namespace {

// Only asked whether the device can run it.
__global__ void probe_kernel() {}

class CudaEvent final : public DeviceEvent {
 public:
  explicit CudaEvent(cudaStream_t stream) {
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event");
    check_cuda(cudaEventRecord(event_, stream), "recording an event");
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  cudaEvent_t get() const { return event_; }

  void synchronise() override { check_cuda(cudaEventSynchronize(event_), "waiting for an event"); }
  bool reached() override {
    const cudaError_t state = cudaEventQuery(event_);
    if (state != cudaErrorNotReady) check_cuda(state, "looking at an event");
    return state == cudaSuccess;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaTimestamp final : public DeviceTimestamp {
 public:
  explicit CudaTimestamp(cudaStream_t stream) {
    check_cuda(cudaEventCreate(&event_), "making an event");
    check_cuda(cudaEventRecord(event_, stream), "recording an event");
  }
  ~CudaTimestamp() override { cudaEventDestroy(event_); }

  double seconds_since(const DeviceTimestamp& earlier) override {
    float duration_ms = 0.0F;
    check_cuda(cudaEventSynchronize(event_), "waiting for an event");
    check_cuda(cudaEventElapsedTime(&duration_ms, static_cast<const CudaTimestamp&>(earlier).event_, event_),
               "asking for the time between events");
    return static_cast<double>(duration_ms) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A graph: one launch of the host for many of kernels.
class CudaRecording final : public DeviceRecording {
 public:
  // Takes the graph.
  CudaRecording(cudaGraph_t graph, cudaStream_t stream) : stream_(stream) {
    const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(error, "making a graph of recorded work");
  }
  ~CudaRecording() override { cudaGraphExecDestroy(executable_); }

  void replay() override { check_cuda(cudaGraphLaunch(executable_, stream_), "launching a graph"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
};

class CudaStream final : public DeviceStream {
 public:
  CudaStream(int device, StreamPriority priority) : device_(device) {
    int least = 0, greatest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
    check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                            priority == StreamPriority::high ? greatest : least),
               "making a stream");
  }
  ~CudaStream() override { cudaStreamDestroy(stream_); }

  std::unique_ptr<DeviceEvent> record() override { return std::make_unique<CudaEvent>(stream()); }
  std::unique_ptr<DeviceTimestamp> stamp() override { return std::make_unique<CudaTimestamp>(stream()); }
  void wait_for(const DeviceEvent& event) override {
    check_cuda(cudaStreamWaitEvent(stream(), static_cast<const CudaEvent&>(event).get(), 0),
               "waiting for an event");
  }
  void synchronise() override { check_cuda(cudaStreamSynchronize(stream()), "waiting for a stream"); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "copying");
  }
  void clear(void* memory, std::size_t bytes) override {
    check_cuda(cudaMemsetAsync(memory, 0, bytes, stream()), "clearing memory");
  }
  // Other threads may go on using their streams and allocating.
  void begin_recording() override {
    check_cuda(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
               "beginning to record work");
  }
  std::unique_ptr<DeviceRecording> end_recording() override {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(stream(), &graph), "recording work");
    return std::make_unique<CudaRecording>(graph, stream_);
  }
  void* native() override { return stream_; }

 private:
  // CUDA's device is the calling thread's choice, and the first one where it made none.
  cudaStream_t stream() const {
    check_cuda(cudaSetDevice(device_), "choosing a device");
    return stream_;
  }

  int device_;
  cudaStream_t stream_ = nullptr;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(DeviceDescription description) : description_(std::move(description)) {}

  const DeviceDescription& description() const override { return description_; }
  void use() override { check_cuda(cudaSetDevice(description_.index), "choosing a device"); }
  std::unique_ptr<DeviceStream> make_stream(StreamPriority priority) override {
    return std::make_unique<CudaStream>(description_.index, priority);
  }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const std::string what = "allocating " + std::to_string(bytes) + " bytes on " + description_.name;
    check_cuda(cudaMalloc(&memory, bytes), what.c_str());
    return memory;
  }
  void free(void* memory) noexcept override { cudaFree(memory); }
  void* allocate_host(std::size_t bytes) override {
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, bytes), "allocating host memory for copies");
    return memory;
  }
  void free_host(void* memory) noexcept override { cudaFreeHost(memory); }
  bool owns(const void* address) const override {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, address), "asking where memory lies");
    return attributes.type == cudaMemoryTypeDevice && attributes.device == description_.index;
  }

 private:
  DeviceDescription description_;
};

// As nvidia-smi and CUDA_VISIBLE_DEVICES write it: "GPU-6ab2e8a1-5f04-7c41-a3a0-6c2c6ad1b3c5".
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

DeviceDescription describe(int index) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "asking for a device's properties");
  return {index, properties.name, "sm_" + std::to_string(properties.major) + std::to_string(properties.minor),
          static_cast<std::int64_t>(properties.totalGlobalMem), uuid_text(properties.uuid)};
}

bool has_code_for(int index) {
  check_cuda(cudaSetDevice(index), "choosing a device");
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&probe_kernel));
  if (error == cudaSuccess) return true;
  cudaGetLastError();  // an error stays until it is read
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) return false;
  check_cuda(error, "loading code");
  return false;
}

int count_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
    throw DeviceUnavailable(
        "the NVIDIA driver shows this process no device: see nvidia-smi and CUDA_VISIBLE_DEVICES");
  if (error != cudaSuccess)
    throw DeviceUnavailable(
        std::string("no NVIDIA driver that this build can use (") + cudaGetErrorString(error) +
        "): install a driver for CUDA " + std::to_string(CUDART_VERSION / 1000) +
        " or newer, or compute on the CPU (resources.kind: cpu in a spec, a command without --gpu)");
  return count;
}

}  // namespace

// A device's properties cost no context on it, which would take half a gigabyte of every GPU for every rank.
std::vector<DeviceDescription> visible_devices() {
  std::vector<DeviceDescription> devices;
  const int count = count_devices();
  for (int index = 0; index < count; ++index) devices.push_back(describe(index));
  return devices;
}

std::unique_ptr<Device> open_device(int index) {
  DeviceDescription description = describe(index);
  if (!has_code_for(index))
    throw DeviceUnavailable("this build holds no code for " + description.name + " (" +
                            description.architecture +
                            "): build with the preset cuda and PODIUM_CUDA_ARCHITECTURES set to it, or leave the "
                            "device out of CUDA_VISIBLE_DEVICES");
  return std::make_unique<CudaDevice>(std::move(description));
}

}  // namespace podium::ops::cuda
