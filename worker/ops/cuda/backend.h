// CUDA's functions for the ops, and their table.
#pragma once

#include "worker/ops/backend.h"

namespace podium::ops::cuda {

PODIUM_OPS(PODIUM_DECLARE_OP)
PODIUM_DEVICE_OPS(PODIUM_DECLARE_OP)

extern const Backend kBackend;

}  // namespace podium::ops::cuda
