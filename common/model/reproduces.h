// The label of a job that repeats another (POST /jobs/{job}/reproduce), with the other's number. Users cannot
// set it, so it is always true.
#pragma once

namespace podium {

inline constexpr const char* kReproduces = "reproduces";

}  // namespace podium
