// The table `repeated_points`: points at a step at which the series has another.
#pragma once

#include "coordinator/store/value_bits.h"

namespace podium {

// The series, its step, its time, and bits_of_value().
inline constexpr const char* kPutRepeatedPoint =
    "INSERT OR IGNORE INTO repeated_points (series, step, time_ms, bits) VALUES (?1, ?2, ?3, ?4)";

}  // namespace podium
