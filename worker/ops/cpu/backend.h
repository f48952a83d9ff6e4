// The CPU's functions for the ops, declared for those that call one another.
#pragma once

#include "worker/ops/backend.h"

namespace podium::ops::cpu {

PODIUM_OPS(PODIUM_DECLARE_OP)

}  // namespace podium::ops::cpu
