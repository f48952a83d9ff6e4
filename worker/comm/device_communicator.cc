#include "worker/comm/device_communicator.h"

#include "common/base/check.h"
#include "worker/comm/done.h"

namespace podium {

DeviceCommunicator::DeviceCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory)
    : host_(std::move(host)), memory_(memory) {
  PODIUM_CHECK(!memory_.on_host(), "a communicator for a device has one");
}

std::future<void> DeviceCommunicator::all_reduce(TensorView values, Reduction reduction) {
  if (!is_on_device(values.address, values.bytes())) return host_->all_reduce(values, reduction);
  return size() == 1 ? done() : all_reduce_on_device(values, reduction);
}

std::future<void> DeviceCommunicator::reduce_scatter(TensorView values) {
  PODIUM_CHECK(values.size() % size() == 0, "reduce_scatter: one equal part for every rank");
  if (!is_on_device(values.address, values.bytes())) return host_->reduce_scatter(values);
  return size() == 1 ? done() : reduce_scatter_on_device(values);
}

std::future<void> DeviceCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  PODIUM_CHECK(all.size() == own.size() * static_cast<std::size_t>(size()),
               "all_gather: one part for every rank");
  if (!is_on_device(all.data(), all.size())) return host_->all_gather(own, all);
  PODIUM_CHECK(memory_.device->owns(own.data()), "all_gather: both on the device or both on the host");
  if (size() > 1) return all_gather_on_device(own, all);
  if (own.data() != all.data()) memory_.copy(all.data(), own.data(), own.size());
  return done();
}

std::future<void> DeviceCommunicator::send(std::span<const std::byte> bytes, int peer) {
  return is_on_device(bytes.data(), bytes.size()) ? send_from_device(bytes, peer) : host_->send(bytes, peer);
}

std::future<void> DeviceCommunicator::receive(std::span<std::byte> bytes, int peer) {
  return is_on_device(bytes.data(), bytes.size()) ? receive_on_device(bytes, peer)
                                                  : host_->receive(bytes, peer);
}

std::unique_ptr<Communicator> DeviceCommunicator::split(const std::vector<std::vector<int>>& groups,
                                                        const std::string& name) {
  return make_group(host_->split(groups, name), name);
}

}  // namespace podium
