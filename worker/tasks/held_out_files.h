// What every task with held-out text looks at before it reads it.
#pragma once

#include <filesystem>
#include <vector>

#include "worker/data/reading.h"

namespace podium {

// Warns where a file of `held_out` is among `training`: it is trained on all the same, for nobody may change
// what a spec says, but its figures then tell how well text was learnt by heart.
void warn_of_held_out_training(const std::vector<std::filesystem::path>& held_out,
                               const std::vector<std::filesystem::path>& training, Reading& reading);

}  // namespace podium
