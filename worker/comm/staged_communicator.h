// Carries a device's memory through the host: every operation copies into pinned host memory, uses the host's
// communicator, and copies back. Any number of ranks may share a device, and sums have the bits that the
// host's communicator promises. It is slow: a call waits until the stream has come to the operation.
#pragma once

#include "worker/comm/device_communicator.h"

namespace podium {

class StagingBuffers;

class StagedCommunicator final : public DeviceCommunicator {
 public:
  StagedCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory);

 private:
  StagedCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory,
                     std::shared_ptr<StagingBuffers> buffers);

  std::future<void> all_reduce_on_device(TensorView values, Reduction reduction) override;
  std::future<void> reduce_scatter_on_device(TensorView values) override;
  std::future<void> all_gather_on_device(std::span<const std::byte> own, std::span<std::byte> all) override;
  std::future<void> send_from_device(std::span<const std::byte> bytes, int peer) override;
  std::future<void> receive_on_device(std::span<std::byte> bytes, int peer) override;
  std::unique_ptr<Communicator> make_group(std::unique_ptr<Communicator> host,
                                           const std::string& name) override;

  std::shared_ptr<StagingBuffers> buffers_;  // of all groups, and of operations under way
};

}  // namespace podium
