// Homes that were copied with their tasks, as by cp -a. The tasks belong to the original, whose agent and
// processes may be alive, even on this machine.
#pragma once

#include <filesystem>

namespace podium {

// Separates a copied home from the original, before anything else in it is used: gives it another id and
// counts its tasks that had not ended as lost. False where it is no copy.
bool part_from_original(const std::filesystem::path& home);

}  // namespace podium
