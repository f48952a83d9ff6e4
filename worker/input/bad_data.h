// Input that cannot be used: unreadable, malformed or empty. The message names the file and what to do.
#pragma once

#include <stdexcept>

namespace podium {

struct BadData : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace podium
