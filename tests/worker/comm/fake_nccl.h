// NCCL among the threads of one process, on streams of ThreadDevice: the operations' meaning, calls that are
// finished later (ncclInProgress), waiting for peers without an end, and aborts.
#pragma once

#include "worker/comm/nccl_library.h"

namespace podium {

nccl::Library fake_nccl();

// Communicators made and not yet destroyed or aborted, in the process.
int fake_nccl_open();

}  // namespace podium
