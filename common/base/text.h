// Text that travels.
#pragma once

#include <cstddef>
#include <string>

namespace podium {

// At most so many bytes, and a mark behind what was cut; UTF-8 stays UTF-8.
std::string cut_text(std::string text, std::size_t most);

}  // namespace podium
