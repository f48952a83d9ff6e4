#include "worker/comm/staged_communicator.h"

#include <algorithm>

namespace podium {

// Pinned host memory, kept for the next operation: allocating it stops the whole device. Of one thread.
class StagingBuffers {
 public:
  explicit StagingBuffers(const MemorySpace& memory) : memory_(memory) {}
  StagingBuffers(const StagingBuffers&) = delete;
  StagingBuffers& operator=(const StagingBuffers&) = delete;
  ~StagingBuffers() {
    for (Buffer& buffer : free_) release(buffer);
  }

  struct Buffer {
    std::byte* address = nullptr;
    std::size_t capacity = 0;
    std::unique_ptr<DeviceEvent> last_use;  // null: the device does not use it
  };

  Buffer take(std::size_t bytes) {
    const auto fits = [&](const Buffer& buffer) { return buffer.capacity >= bytes; };
    const auto found = std::ranges::find_if(free_, fits);
    if (found == free_.end())
      return {static_cast<std::byte*>(memory_.device->allocate_host(bytes)), bytes, nullptr};
    Buffer buffer = std::move(*found);
    free_.erase(found);
    if (buffer.last_use) buffer.last_use->synchronise();
    buffer.last_use.reset();
    return buffer;
  }

  // To be used again once all that was put on the stream so far is done.
  void give_back(Buffer buffer) noexcept {
    try {
      buffer.last_use = memory_.stream->record();
      free_.push_back(std::move(buffer));
    } catch (const std::exception&) {
      memory_.device->free_host(buffer.address);  // the device has failed: nobody uses it any more
    }
  }

 private:
  void release(Buffer& buffer) {
    if (buffer.last_use) buffer.last_use->synchronise();
    memory_.device->free_host(buffer.address);
  }

  MemorySpace memory_;
  std::vector<Buffer> free_;
};

namespace {

// One operation's part of host memory; goes back when the operation is forgotten.
class Staging {
 public:
  Staging(std::shared_ptr<StagingBuffers> buffers, std::size_t bytes)
      : buffers_(std::move(buffers)), buffer_(buffers_->take(bytes)), bytes_(bytes) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { buffers_->give_back(std::move(buffer_)); }

  std::span<std::byte> bytes() const { return {buffer_.address, bytes_}; }

 private:
  std::shared_ptr<StagingBuffers> buffers_;
  StagingBuffers::Buffer buffer_;
  std::size_t bytes_;
};

// Shared, because a std::future's function is.
using SharedStaging = std::shared_ptr<Staging>;

// Waits for the host's operation, then copies this part of its result to the device.
std::future<void> copied_back(const MemorySpace& memory, SharedStaging staging, std::future<void> operation,
                              std::span<const std::byte> result, void* to) {
  return std::async(std::launch::deferred, [memory, staging = std::move(staging),
                                            operation = std::move(operation), result, to]() mutable {
    operation.get();
    memory.copy(to, result.data(), result.size());
    staging.reset();
  });
}

}  // namespace

StagedCommunicator::StagedCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& space)
    : StagedCommunicator(std::move(host), space, std::make_shared<StagingBuffers>(space)) {}

StagedCommunicator::StagedCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& space,
                                       std::shared_ptr<StagingBuffers> buffers)
    : DeviceCommunicator(std::move(host), space), buffers_(std::move(buffers)) {}

std::future<void> StagedCommunicator::all_reduce_on_device(TensorView values, Reduction reduction) {
  auto staging = std::make_shared<Staging>(buffers_, values.bytes());
  const std::span<std::byte> bytes = staging->bytes();
  memory().download(bytes.data(), values.address, bytes.size());
  auto operation = host().all_reduce(TensorView{bytes.data(), values.dtype, values.shape}, reduction);
  return copied_back(memory(), std::move(staging), std::move(operation), bytes, values.address);
}

std::future<void> StagedCommunicator::reduce_scatter_on_device(TensorView values) {
  auto staging = std::make_shared<Staging>(buffers_, values.bytes());
  const std::span<std::byte> bytes = staging->bytes();
  memory().download(bytes.data(), values.address, bytes.size());
  auto operation = host().reduce_scatter({bytes.data(), values.dtype, values.shape});
  const std::size_t part = bytes.size() / static_cast<std::size_t>(size());
  const std::size_t begin = part * static_cast<std::size_t>(rank());
  return copied_back(memory(), std::move(staging), std::move(operation), bytes.subspan(begin, part),
                     static_cast<std::byte*>(values.address) + begin);
}

std::future<void> StagedCommunicator::all_gather_on_device(std::span<const std::byte> own,
                                                           std::span<std::byte> all) {
  auto staging = std::make_shared<Staging>(buffers_, all.size());
  const std::span<std::byte> bytes = staging->bytes();
  const auto here = bytes.subspan(own.size() * static_cast<std::size_t>(rank()), own.size());
  memory().download(here.data(), own.data(), own.size());
  auto operation = host().all_gather(here, bytes);
  return copied_back(memory(), std::move(staging), std::move(operation), bytes, all.data());
}

std::future<void> StagedCommunicator::send_from_device(std::span<const std::byte> bytes, int peer) {
  auto staging = std::make_shared<Staging>(buffers_, bytes.size());
  memory().download(staging->bytes().data(), bytes.data(), bytes.size());
  return std::async(std::launch::deferred,
                    [staging, operation = host().send(staging->bytes(), peer)]() mutable {
                      operation.get();
                      staging.reset();
                    });
}

std::future<void> StagedCommunicator::receive_on_device(std::span<std::byte> bytes, int peer) {
  auto staging = std::make_shared<Staging>(buffers_, bytes.size());
  const std::span<std::byte> received = staging->bytes();
  auto operation = host().receive(received, peer);
  return copied_back(memory(), std::move(staging), std::move(operation), received, bytes.data());
}

std::unique_ptr<Communicator> StagedCommunicator::make_group(std::unique_ptr<Communicator> group,
                                                             const std::string&) {
  return std::unique_ptr<Communicator>(new StagedCommunicator(std::move(group), memory(), buffers_));
}

}  // namespace podium
