// Stands in for the CUDA toolkit's header of this name, so that kernels and the code that launches them
// compile for the host. Device memory is memory that the host must not touch, a stream is executed at once, a
// launch runs the grid as tests/cuda_shim/block.h says. Blocks run one after another: a block must not wait for
// another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/cuda_shim/intrinsics.h"
#include "tests/cuda_shim/runtime.h"

using std::max;
using std::min;
