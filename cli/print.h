// Standard output, written whole: a reader that went away ends the program quietly, a full disk does not.
#pragma once

#include <string_view>

namespace podium::cli {

void print(std::string_view text);  // throws Failure(Exit::output)

}  // namespace podium::cli
