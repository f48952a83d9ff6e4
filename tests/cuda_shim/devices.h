// How many devices the shim shows, and on which a context was made; all of them compute as one.
#pragma once

#include <atomic>

namespace podium::shim {

inline std::atomic<int> devices_shown = 1;
inline std::atomic<unsigned> contexts_made = 0;  // a bit for each device

}  // namespace podium::shim
