// A home that was copied with its tasks, as by cp -a. They are the original's, whose agent and processes may
// live, on this machine too.
#pragma once

#include <filesystem>

namespace podium {

// Makes a copied home one of its own, before anything else of it is used: it gets another id, and the tasks
// that had not ended are taken for lost to it. False where it is no copy.
bool part_from_original(const std::filesystem::path& home);

}  // namespace podium
