// How the memory of the ranks' devices travels: by NCCL where every rank has a device of its own, through the
// host where some share one, as when a layout is tried on fewer devices than it has ranks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_meeting.h"
#include "worker/tensor/memory_space.h"

namespace podium {

// Collective over `host`, the communicator of the host that `meeting` has made, or one of a rank alone.
// `choice`, which is for PODIUM_COMMUNICATOR: "" as above, or "nccl" or "staged" whatever the devices are.
// Throws std::invalid_argument for any other, and nccl::Unavailable.
std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host,
                                                       const MemorySpace& memory, const GlooOptions& meeting,
                                                       std::string_view choice);

}  // namespace podium
