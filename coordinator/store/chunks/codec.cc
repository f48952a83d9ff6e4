#include "coordinator/store/chunks/codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "coordinator/store/chunks/bytes.h"
#include "coordinator/store/chunks/integers.h"
#include "coordinator/store/chunks/values.h"

namespace podium {
namespace {

constexpr std::uint8_t kPointsVersion = 1;
constexpr std::size_t kChecksum = sizeof(std::uint32_t);

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

bool ascend(const std::vector<std::int64_t>& steps) {
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i - 1] >= steps[i]) return false;
  return true;
}

}  // namespace

Error damaged(const std::string& why) {
  return {ErrorCode::invalid, "packed points are damaged: " + why, ""};
}

std::string framed(std::uint8_t version, std::size_t count, std::string_view columns) {
  std::string bytes(1, static_cast<char>(version));
  put_varint(bytes, count);
  bytes += columns;
  const std::uint32_t sum = checksum(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes;
}

Result<Frame> unframed(std::uint8_t version, std::size_t most, std::string_view bytes) {
  if (bytes.size() < kChecksum) return damaged("there are " + std::to_string(bytes.size()) + " bytes");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksum);
  std::uint32_t told = 0;
  std::memcpy(&told, bytes.data() + content.size(), kChecksum);
  if (told != checksum(content)) return damaged("their checksum is another");
  ByteReader in(content);
  if (const int has = in.byte(); has != version)
    return damaged("they are of format " + std::to_string(has) + ", this program knows " +
                   std::to_string(version));
  const std::uint64_t count = in.varint();
  if (!in.whole() || count == 0 || count > most) return damaged("their count is " + std::to_string(count));
  const std::size_t head = 1 + static_cast<std::size_t>(varint_size(count));
  if (head > content.size()) return damaged("their count is written at length");
  return Frame{static_cast<std::size_t>(count), content.substr(head)};
}

std::string encode_points(std::span<const StoredPoint> points) {
  PODIUM_CHECK(!points.empty() && points.size() <= kPointsInChunk, "a chunk holds 1 to 4,096 points");
  std::vector<std::int64_t> steps, times, attempts;
  std::vector<double> values;
  for (auto* column : {&steps, &times, &attempts}) column->reserve(points.size());
  values.reserve(points.size());
  for (const StoredPoint& point : points) {
    steps.push_back(point.step);
    times.push_back(point.time_ms);
    attempts.push_back(point.attempt);
    values.push_back(point.value);
  }
  PODIUM_CHECK(ascend(steps), "points of a chunk come by step");
  std::string columns;
  for (const auto* column : {&steps, &times, &attempts}) pack_integers(*column, columns);
  pack_values(values, columns);
  return framed(kPointsVersion, points.size(), columns);
}

Result<std::vector<StoredPoint>> decode_points(std::string_view bytes) {
  const Result<Frame> frame = unframed(kPointsVersion, kPointsInChunk, bytes);
  if (!frame) return frame.errors();
  ByteReader in(frame->columns);
  const auto steps = unpack_integers(in, frame->count);
  const auto times = unpack_integers(in, frame->count);
  const auto attempts = unpack_integers(in, frame->count);
  const auto values = unpack_values(in, frame->count);
  if (!in.whole()) return damaged("a column is cut off or makes no sense");
  if (!in.at_end()) return damaged("something follows the columns");
  if (!ascend(steps)) return damaged("their steps do not ascend");
  std::vector<StoredPoint> points(frame->count);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {steps[i], times[i], values[i], static_cast<int>(attempts[i])};
  return points;
}

}  // namespace podium
