#include "common/model/launch_clock.h"

namespace podium {

using nlohmann::json;

void add_clock(const LaunchClock& clock, json& object) {
  json out = json::object();
  if (clock.ahead) out["ahead_ms"] = clock.ahead->count();
  if (clock.steps > 0) out["steps"] = clock.steps;
  if (clock.first_start) {
    out["first_start_ms"] = to_millis(*clock.first_start);
    out["first_steps"] = clock.first_steps;
  }
  if (!out.empty()) object["clock"] = std::move(out);
}

LaunchClock clock_in(const json& object) {
  const json in = object.value("clock", json::object());
  LaunchClock clock;
  if (const auto ahead = in.find("ahead_ms"); ahead != in.end())
    clock.ahead = Duration{ahead->get<std::int64_t>()};
  clock.steps = in.value("steps", clock.steps);
  if (const auto start = in.find("first_start_ms"); start != in.end())
    clock.first_start = from_millis(start->get<std::int64_t>());
  clock.first_steps = in.value("first_steps", clock.first_steps);
  return clock;
}

}  // namespace podium
