// A tensor's values on the host, from the memory that a context computes in.
#pragma once

#include <vector>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium {

// Behind all work put on the stream so far. Of 32 or 16 bits; none where the view has no address.
std::vector<float> downloaded(const Context& context, const ConstTensorView& tensor);

}  // namespace podium
