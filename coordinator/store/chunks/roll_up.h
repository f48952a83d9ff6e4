// A summary of consecutive points, from which a long curve is drawn, spikes included, without its points.
// Written with each chunk for every 64 and every 256 of its points and for the whole chunk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/chunks/point.h"

namespace podium {

struct RollUp {
  std::int64_t points = 0;
  std::int64_t numbers = 0;              // points that are not NaN
  double sum = 0;                        // of the numbers, rounded to float, which takes half the room
  std::optional<StoredPoint> low, high;  // the first of the lowest and of the highest numbers; no attempts
  std::optional<StoredPoint> broken;     // the first NaN
};

RollUp roll_up(std::span<const StoredPoint> points);
std::vector<RollUp> roll_ups(std::span<const StoredPoint> points,
                             std::size_t each);  // of `each` points, by step

// Joins consecutive runs, `each` of them into one.
std::vector<RollUp> joined(std::span<const RollUp> runs, std::size_t each);

// At most kPointsInBlock runs; format as in codec.h.
std::string encode_roll_ups(std::span<const RollUp> runs);
Result<std::vector<RollUp>> decode_roll_ups(std::string_view bytes);

}  // namespace podium
