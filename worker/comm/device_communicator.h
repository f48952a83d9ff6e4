// The common part of communicators for a device. A communicator of the host carries host memory, doubles,
// broadcasts and barriers, and a single rank needs no peer. A derived class says how a device's memory
// travels.
#pragma once

#include "worker/comm/communicator.h"
#include "worker/tensor/memory_space.h"

namespace podium {

class DeviceCommunicator : public Communicator {
 public:
  int rank() const final { return host_->rank(); }
  int size() const final { return host_->size(); }
  using Communicator::all_reduce;
  std::future<void> all_reduce(TensorView values, Reduction reduction) final;
  std::future<void> all_reduce(std::span<double> values) final { return host_->all_reduce(values); }
  std::future<void> reduce_scatter(TensorView values) final;
  std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) final;
  void broadcast(std::span<std::byte> bytes, int root) final { host_->broadcast(bytes, root); }
  void barrier() final { host_->barrier(); }
  std::future<void> send(std::span<const std::byte> bytes, int peer) final;
  std::future<void> receive(std::span<std::byte> bytes, int peer) final;
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                      const std::string& name) final;

 protected:
  // `memory` is a device's, with the stream that operations follow and that waits for them.
  DeviceCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory);

  Communicator& host() { return *host_; }
  const MemorySpace& memory() const { return memory_; }

  // Called with several ranks and with memory of the device that is not empty.
  virtual std::future<void> all_reduce_on_device(TensorView values, Reduction reduction) = 0;
  virtual std::future<void> reduce_scatter_on_device(TensorView values) = 0;
  virtual std::future<void> all_gather_on_device(std::span<const std::byte> own,
                                                 std::span<std::byte> all) = 0;
  virtual std::future<void> send_from_device(std::span<const std::byte> bytes, int peer) = 0;
  virtual std::future<void> receive_on_device(std::span<std::byte> bytes, int peer) = 0;
  // Makes a communicator of the same kind over the ranks of another communicator of the host.
  virtual std::unique_ptr<Communicator> make_group(std::unique_ptr<Communicator> host,
                                                   const std::string& name) = 0;

 private:
  bool is_on_device(const void* address, std::size_t bytes) const {
    return bytes > 0 && memory_.device->owns(address);
  }

  std::unique_ptr<Communicator> host_;
  MemorySpace memory_;
};

}  // namespace podium
