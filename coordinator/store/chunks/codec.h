// Points of one series as bytes, exactly: NaN, infinities and every bit of a value are the same when they are
// read. A version, the columns (steps, times, attempts, values), and a checksum, so that damage is told and
// never believed. Golden bytes are in the test: a format that has been written is read for ever.
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

// What frames the columns, here and of roll-ups.
std::string framed(std::uint8_t version, std::size_t count, std::string_view columns);
struct Frame {
  std::size_t count = 0;
  std::string_view columns;
};
Result<Frame> unframed(std::uint8_t version, std::size_t most, std::string_view bytes);
Error damaged(const std::string& why);

}  // namespace podium
