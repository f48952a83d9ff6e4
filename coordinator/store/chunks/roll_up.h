// What a run of points comes to, so that a long curve is drawn, its spikes included, without reading it:
// written with each chunk for every 64 and every 256 of its points, and for all of it.
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
  std::int64_t numbers = 0;  // of the points: those that are not NaN
  double sum = 0;            // of the numbers, to the 24 bits of a float, which take half the room
  std::optional<StoredPoint> low, high;  // the first of the lowest and of the highest numbers; no attempts
  std::optional<StoredPoint> broken;     // the first NaN
};

RollUp roll_up(std::span<const StoredPoint> points);
std::vector<RollUp> roll_ups(std::span<const StoredPoint> points, std::size_t each);  // of so many, by step

// Of runs that follow each other, `each` of them in one.
std::vector<RollUp> joined(std::span<const RollUp> runs, std::size_t each);

// Of at most kPointsInBlock runs, as codec.h.
std::string encode_roll_ups(std::span<const RollUp> runs);
Result<std::vector<RollUp>> decode_roll_ups(std::string_view bytes);

}  // namespace podium
