#include "agent/staging/room.h"

#include <algorithm>
#include <tuple>

namespace podium {

Room make_room(std::vector<StoredInput> inputs, std::int64_t incoming, std::int64_t bytes,
               const StoreLimits& limits, StoreTime now) {
  std::ranges::sort(inputs, {}, [](const StoredInput& input) { return std::tie(input.used, input.key); });
  std::int64_t all = incoming;
  for (const StoredInput& input : inputs) all += input.bytes;
  Room room;
  std::vector<std::string> wanted;
  for (const StoredInput& input : inputs) {
    if (input.held) continue;
    const bool aged = now - input.used > limits.keep;
    if (!aged && bytes <= limits.bytes - all) break;
    (aged ? room.drop : wanted).push_back(input.key);
    all -= input.bytes;
  }
  room.fits = bytes <= limits.bytes - all;
  if (room.fits) room.drop.insert(room.drop.end(), wanted.begin(), wanted.end());
  return room;
}

}  // namespace podium
