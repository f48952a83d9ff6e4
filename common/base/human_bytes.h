// Sizes for people to read.
#pragma once

#include <cstdint>
#include <string>

namespace podium {

std::string human_bytes(std::int64_t bytes);  // "812 B", "1.5 GiB"

}  // namespace podium
