// The homes of pilots, on the local disk of a machine that others use as well.
#pragma once

#include <filesystem>

#include "common/base/error.h"

namespace podium {

// Makes the folder below which pilots have their homes, for this user alone; an error where somebody else
// could change what is in it.
Errors make_pilot_homes(const std::filesystem::path& folder);

}  // namespace podium
