// How the memory of the ranks' devices travels: by NCCL if every rank has a device of its own, else through
// the host, as when a layout is tried on fewer devices than it has ranks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_meeting.h"
#include "worker/tensor/memory_space.h"

namespace podium {

// Collective over `host`, a communicator of the host that `meeting` has made, or that of a single rank.
// `choice` is the value of PODIUM_COMMUNICATOR: "" chooses as above; "nccl" and "staged" say which, whatever
// the devices are. Throws std::invalid_argument for any other value, and nccl::Unavailable.
std::unique_ptr<Communicator> make_device_communicator(std::unique_ptr<Communicator> host,
                                                       const MemorySpace& memory, const GlooOptions& meeting,
                                                       std::string_view choice);

}  // namespace podium
