// Text that travels.
#pragma once

#include <cstddef>
#include <string>

namespace podium {

// Cuts the text to at most `most` bytes, with a mark where it was cut; UTF-8 stays valid.
std::string cut_text(std::string text, std::size_t most);

}  // namespace podium
