// The agent's home folder: private, and locked by one agent at a time.
#pragma once

#include <filesystem>

#include "common/base/error.h"
#include "common/base/file.h"

namespace podium {

// Returns the lock, held as long as the Fd lives. An Error where another agent has it. Throws
// std::system_error where the folder cannot be made.
Result<Fd> take_home(const std::filesystem::path& home);

}  // namespace podium
