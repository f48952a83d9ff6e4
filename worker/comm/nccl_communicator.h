// Carries a device's memory by NCCL: over NVLink, PCIe or the network, without the host in between. Each
// group has an NCCL communicator for its collectives, on a stream of high priority beside the computing. Each
// pair of ranks that exchange messages has one for each direction. The host's communicator, which has met
// through the attempt's rendezvous, carries their unique ids.
//
// Order of addition: NCCL adds along rings or trees, whose order depends on an element's place and on the
// number of channels, and rounds 16-bit values at every hop; NVSwitch adds inside the switch. With rings
// (NCCL_ALGO=Ring, which this sets unless it is set already) the order follows from layout, topology, sizes
// and NCCL's version alone. So every run of one layout on the same machines has the same bits, and all ranks
// have them, because they copy the sums. The bits differ from those of the host's communicators, and
// reduce_scatter may give other bits than all_reduce.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "worker/comm/device_communicator.h"
#include "worker/comm/gloo_meeting.h"
#include "worker/comm/nccl_link.h"
#include "worker/comm/peer_watch.h"

namespace podium {

class NcclCommunicator final : public DeviceCommunicator {
 public:
  // Collective over `host`, the communicator of the host that `meeting` has made. Every rank has a device of
  // its own, which the calling thread has opened.
  NcclCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory,
                   const nccl::Library& library, const GlooOptions& meeting);
  ~NcclCommunicator() override;

 private:
  struct World;

  NcclCommunicator(std::unique_ptr<Communicator> host, const MemorySpace& memory,
                   std::shared_ptr<World> world, std::string name);

  std::future<void> all_reduce_on_device(TensorView values, Reduction reduction) override;
  std::future<void> reduce_scatter_on_device(TensorView values) override;
  std::future<void> all_gather_on_device(std::span<const std::byte> own, std::span<std::byte> all) override;
  std::future<void> send_from_device(std::span<const std::byte> bytes, int peer) override;
  std::future<void> receive_on_device(std::span<std::byte> bytes, int peer) override;
  std::unique_ptr<Communicator> make_group(std::unique_ptr<Communicator> host,
                                           const std::string& name) override;

  void connect();
  std::future<void> put(const NcclConnection::Call& call);
  std::future<void> put_message(std::span<std::byte> bytes, int peer, bool sends);
  NcclLink& link(int peer, bool sends);

  std::shared_ptr<World> world_;  // shared with all groups split from the world
  std::string name_;
  std::unique_ptr<NcclConnection> collectives_;                      // none for a rank alone
  std::map<std::pair<int, bool>, std::unique_ptr<NcclLink>> links_;  // by peer and whether it sends
};

}  // namespace podium
