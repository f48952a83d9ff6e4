// An accelerator as the worker sees it: memory, and streams of work ordered by events. A back end implements
// these; what fails throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace podium {

struct DeviceDescription {
  int index = 0;  // among those this process may see
  std::string name;
  std::string architecture;  // "sm_90"
  std::int64_t memory_bytes = 0;
  std::string uuid;  // the same to every process that sees the device
};

// A point in a stream's work.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;

  virtual void synchronise() = 0;  // the calling thread waits until it is reached
  virtual bool reached() = 0;      // without waiting
};

// A point in a stream's work at which the device takes the time.
class DeviceTimestamp {
 public:
  virtual ~DeviceTimestamp() = default;

  // Of the same device. Waits until both points are reached.
  virtual double seconds_since(const DeviceTimestamp& earlier) = 0;
};

// Work of a stream that was recorded once and can be done again with the same arguments: what it reads in the
// device's memory is what lies there then. Dropping a recording while it is still being done is allowed.
class DeviceRecording {
 public:
  virtual ~DeviceRecording() = default;

  virtual void replay() = 0;  // puts all of it on the stream that it was recorded on
};

// Work is done in the order in which it is put on a stream; two streams run side by side. Any thread may use
// a stream, one at a time.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  virtual std::unique_ptr<DeviceEvent> record() = 0;  // reached when all work put here so far is done
  virtual std::unique_ptr<DeviceTimestamp> stamp() = 0;
  virtual void wait_for(const DeviceEvent& event) = 0;  // what is put here from now on waits for it
  virtual void synchronise() = 0;                       // the calling thread waits for all work put here

  // Either side may be host memory; it must stay until the copy is done.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void clear(void* memory, std::size_t bytes) = 0;  // to zero

  // What the calling thread puts here from now on is recorded and not done. Until the recording ends that
  // thread must not allocate or free the device's memory, wait, or look at an event: the recording then
  // fails.
  virtual void begin_recording() = 0;
  virtual std::unique_ptr<DeviceRecording> end_recording() = 0;

  virtual void* native() = 0;  // the back end's own handle: a cudaStream_t
};

// Work of high priority goes first where both could run.
enum class StreamPriority { normal, high };

// Its memory and streams must go before it does.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceDescription& description() const = 0;
  virtual void use() = 0;  // by the calling thread, which did not open it, from now on
  virtual std::unique_ptr<DeviceStream> make_stream(StreamPriority priority = StreamPriority::normal) = 0;
  virtual void* allocate(std::size_t bytes) = 0;  // aligned to 256 bytes
  virtual void free(void* memory) noexcept = 0;
  // Host memory that a stream's copies read and write while the host goes on.
  virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void free_host(void* memory) noexcept = 0;
  // Whether an address lies in memory of `allocate`.
  virtual bool owns(const void* address) const = 0;
};

}  // namespace podium
