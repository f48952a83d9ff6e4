#include "worker/comm/device_transport.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "common/base/logging.h"
#include "worker/comm/nccl_communicator.h"
#include "worker/comm/staged_communicator.h"

namespace podium {
namespace {

// The first two ranks that have the same device, and which.
std::optional<std::string> find_shared_device(Communicator& host, const Device& device) {
  using Uuid = std::array<char, 48>;
  Uuid own{};
  device.description().uuid.copy(own.data(), own.size() - 1);
  std::vector<Uuid> all(static_cast<std::size_t>(host.size()));
  host.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all))).get();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto first = static_cast<std::size_t>(std::ranges::find(all, all[rank]) - all.begin());
    if (first < rank)
      return fmt::format("ranks {} and {} share the device {}", first, rank, all[rank].data());
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host,
                                                       const MemorySpace& memory, const GlooOptions& meeting,
                                                       std::string_view choice) {
  if (choice != "" && choice != "nccl" && choice != "staged")
    throw std::invalid_argument(
        fmt::format("PODIUM_COMMUNICATOR is \"{}\": it must be nccl or staged", choice));
  const std::optional<std::string> shared = find_shared_device(*host, *memory.device);
  if (shared && choice == "nccl")
    throw std::invalid_argument("PODIUM_COMMUNICATOR=nccl needs a device for every rank, but " + *shared);
  if (shared && choice == "" && host->rank() == 0)
    spdlog::warn("{}: what they exchange goes through the host, which is slow", *shared);
  if (host->size() == 1 || shared || choice == "staged")
    return std::make_unique<StagedCommunicator>(std::move(host), memory);
  return std::make_unique<NcclCommunicator>(std::move(host), memory, nccl::open_library(), meeting);
}

}  // namespace podium
