// The check of held-out text that every task makes before it reads the text.
#pragma once

#include <filesystem>
#include <vector>

#include "worker/data/reading.h"

namespace podium {

// Warns if a file of `held_out` is among `training`. The run trains on it all the same, because nothing may
// change what a spec says, but its figures then tell how well text was learnt by heart.
void warn_of_held_out_training(const std::vector<std::filesystem::path>& held_out,
                               const std::vector<std::filesystem::path>& training, Reading& reading);

}  // namespace podium
