// Encodes the points of one series as bytes, exactly: NaN, infinities and every bit of a value survive. The
// format is a version, the columns (steps, times, attempts, values) and a checksum, which detects damage. The
// test has golden bytes: every format that was ever written must stay readable.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/chunks/point.h"

namespace podium {

// One to kPointsInChunk points, by step, each step once.
std::string encode_points(std::span<const StoredPoint> points);

// Error: what is wrong with the bytes.
Result<std::vector<StoredPoint>> decode_points(std::string_view bytes);

// The frame around the columns of points and of roll-ups.
std::string framed(std::uint8_t version, std::size_t count, std::string_view columns);
struct Frame {
  std::size_t count = 0;
  std::string_view columns;
};
Result<Frame> unframed(std::uint8_t version, std::size_t most, std::string_view bytes);
Error damaged(const std::string& why);

}  // namespace podium
