// The keys that only a training has, and those of a program of the user's own.
#pragma once

#include <array>

namespace podium {

inline constexpr std::array kOfTrainings{"model", "data", "training", "parallel", "checkpoint", "evaluate"};
inline constexpr std::array kOfPrograms{"workdir", "env", "processes", "parameters", "code"};

}  // namespace podium
