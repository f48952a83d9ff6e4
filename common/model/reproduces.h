// The label of a job that repeats another (POST /jobs/{job}/reproduce), with that one's number. Nobody else
// may give it: what it says of a job is true.
#pragma once

namespace podium {

inline constexpr const char* kReproduces = "reproduces";

}  // namespace podium
