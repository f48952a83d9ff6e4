// A point of a curve, as every format of this folder has it.
#pragma once

#include <cstdint>
#include <string>

namespace podium::cli {

struct CurvePoint {
  std::int64_t step = 0;
  std::int64_t time_ms = 0;  // since 1970
  double value = 0;          // NaN and infinities among them

  bool operator==(const CurvePoint&) const = default;
};

// A point with the curve that it is of.
struct TaggedPoint {
  std::string run;  // "" where the file does not say
  std::string metric;
  CurvePoint point;
};

}  // namespace podium::cli
