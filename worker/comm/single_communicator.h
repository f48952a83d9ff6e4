// One rank alone: every reduction is the identity, and there is nobody to send to.
#pragma once

#include "worker/comm/communicator.h"

namespace podium {

class SingleCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  using Communicator::all_reduce;
  std::future<void> all_reduce(TensorView values, Reduction reduction) override;
  std::future<void> all_reduce(std::span<double> values) override;
  std::future<void> reduce_scatter(TensorView values) override;
  std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void barrier() override {}
  // Calling either is a bug.
  std::future<void> send(std::span<const std::byte> bytes, int peer) override;
  std::future<void> receive(std::span<std::byte> bytes, int peer) override;
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                      const std::string& name) override;
};

}  // namespace podium
