// The coordinator's home folder: one process at a time, its tokens, and where it can be reached.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/error.h"
#include "common/base/file.h"

namespace podium {

// Makes the folder (0700) and holds it for this process until the Fd closes; an error when another process
// has it.
Result<Fd> claim_home(const std::filesystem::path& home);

// Reads the token in `file`, or makes one there (0600) when the file does not exist.
Result<std::string> read_or_make_token(const std::filesystem::path& file);

}  // namespace podium
