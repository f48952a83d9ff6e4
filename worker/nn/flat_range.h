// A part of a flat parameter buffer, in elements.
#pragma once

#include <cstdint>

namespace podium {

struct FlatRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const FlatRange&) const = default;
};

}  // namespace podium
