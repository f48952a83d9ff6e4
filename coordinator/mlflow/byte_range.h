// The Range field of a request (RFC 9110): one range of bytes. What else it may ask for is answered with the
// whole, as the RFC allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace podium::mlflow {

struct ByteRange {
  std::int64_t from = 0;
  std::int64_t end = 0;  // after the last byte

  bool operator==(const ByteRange&) const = default;
};

struct RangeAsked {
  std::optional<ByteRange> part;  // none: the whole
  bool unsatisfiable = false;     // it begins after the end

  bool operator==(const RangeAsked&) const = default;
};

RangeAsked range_of(std::string_view field, std::int64_t size);

}  // namespace podium::mlflow
