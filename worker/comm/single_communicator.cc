#include "worker/comm/single_communicator.h"

#include <algorithm>

#include "common/base/check.h"

namespace podium {
namespace {

std::future<void> done() {
  std::promise<void> promise;
  promise.set_value();
  return promise.get_future();
}

}  // namespace

std::future<void> SingleCommunicator::all_reduce(std::span<float>) { return done(); }
std::future<void> SingleCommunicator::all_reduce(std::span<double>) { return done(); }

void SingleCommunicator::broadcast(std::span<std::byte>, int root) {
  PODIUM_CHECK(root == 0, "the only rank is 0");
}

void SingleCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  PODIUM_CHECK(own.size() == all.size(), "one rank gathers its own bytes");
  std::ranges::copy(own, all.begin());
}

}  // namespace podium
