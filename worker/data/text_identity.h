// What a text is wherever it lies: enough for a run to notice that it goes on with another one.
#pragma once

#include <cstdint>
#include <string>

namespace podium {

struct TextIdentity {
  std::int64_t tokens = 0;
  std::int64_t sentences = 0;  // 0 where the text is not cut into any
  std::string xxh3;            // of its tokens and where they are cut, 16 hexadecimal digits; "" unknown

  bool operator==(const TextIdentity&) const = default;
};

}  // namespace podium
