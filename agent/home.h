// The agent's home folder: made private, and held by one agent at a time.
#pragma once

#include <filesystem>

#include "common/base/error.h"
#include "common/base/file.h"

namespace podium {

// The lock, held as long as the Fd lives. An Error when another agent has it; throws std::system_error when
// the folder cannot be made.
Result<Fd> take_home(const std::filesystem::path& home);

}  // namespace podium
