#include "worker/comm/single_communicator.h"

#include <cstring>

#include "common/base/check.h"
#include "worker/comm/done.h"

namespace podium {

std::future<void> SingleCommunicator::all_reduce(TensorView, Reduction) { return done(); }
std::future<void> SingleCommunicator::all_reduce(std::span<double>) { return done(); }
std::future<void> SingleCommunicator::reduce_scatter(TensorView) { return done(); }

std::future<void> SingleCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  PODIUM_CHECK(own.size() == all.size(), "one rank gathers its own bytes");
  if (!own.empty() && own.data() != all.data()) std::memcpy(all.data(), own.data(), own.size());
  return done();
}

void SingleCommunicator::broadcast(std::span<std::byte>, int root) {
  PODIUM_CHECK(root == 0, "the only rank is 0");
}

std::future<void> SingleCommunicator::send(std::span<const std::byte>, int) {
  PODIUM_CHECK(false, "a rank alone has nobody to send to");
}

std::future<void> SingleCommunicator::receive(std::span<std::byte>, int) {
  PODIUM_CHECK(false, "a rank alone has nobody to receive from");
}

std::unique_ptr<Communicator> SingleCommunicator::split(const std::vector<std::vector<int>>& groups,
                                                        const std::string&) {
  PODIUM_CHECK(groups == std::vector<std::vector<int>>{{0}}, "the only group of one rank is that rank");
  return std::make_unique<SingleCommunicator>();
}

}  // namespace podium
