// Memory of the host that nobody has written to yet: pages become real when they are touched.
#pragma once

#include <cstddef>

#include "worker/tensor/tensor.h"

namespace podium {

// Holds anything. Large blocks ask for huge pages.
AlignedBytes allocate_untouched(std::size_t bytes);

}  // namespace podium
