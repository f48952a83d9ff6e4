// Which staged inputs go to make room. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace podium {

using StoreTime = std::chrono::sys_time<std::chrono::nanoseconds>;

struct StoreLimits {
  std::int64_t bytes = std::int64_t{100} << 30;            // of all inputs
  std::chrono::seconds keep = std::chrono::hours(7 * 24);  // how long one stays that no task uses
};

struct StoredInput {
  std::string key;
  std::int64_t bytes = 0;
  StoreTime used{};   // last
  bool held = false;  // a task uses it
};

struct Room {
  bool fits = true;
  std::vector<std::string> drop;  // keys; only those unused for too long where it does not fit
};

// Makes room for `bytes` beside `inputs` and `incoming` bytes that are on their way: drops what was unused
// for too long, then the longest unused, and nothing that is held.
Room make_room(std::vector<StoredInput> inputs, std::int64_t incoming, std::int64_t bytes,
               const StoreLimits& limits, StoreTime now);

}  // namespace podium
