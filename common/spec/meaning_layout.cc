// The rules about devices, nodes and time.
#include <spdlog/fmt/fmt.h>

#include "common/base/units.h"
#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

// The value at `divisor` must divide the one at `number`.
void check_divides(const Facts& facts, const char* divisor, const char* number, Problems& problems) {
  const auto by = facts.integer(divisor);
  const auto whole = facts.integer(number);
  if (!by || !whole || *by == 0 || *whole % *by == 0) return;
  problems.add(divisor,
               fmt::format("{} ({}) must divide {} ({})", dotted(divisor), *by, dotted(number), *whole));
}

void check_parallel(const Facts& facts, Problems& problems) {
  const auto tensor = facts.integer("/parallel/tensor");
  const auto pipeline = facts.integer("/parallel/pipeline");
  const auto devices = facts.integer("/resources/devices");
  if (tensor && pipeline && devices && *devices % (*tensor * *pipeline) != 0)
    problems.add("/resources/devices",
                 fmt::format("resources.devices ({}) must be a multiple of parallel.tensor × "
                             "parallel.pipeline ({} × {})",
                             *devices, *tensor, *pipeline));
  check_divides(facts, "/parallel/tensor", "/model/heads", problems);
  check_divides(facts, "/parallel/pipeline", "/model/layers", problems);
}

void check_walltime(const Facts& facts, Problems& problems) {
  const auto walltime = facts.text("/resources/walltime");
  if (!walltime) return;
  const auto duration = parse_duration(*walltime);
  if (!duration)
    problems.add("/resources/walltime",
                 fmt::format("resources.walltime ({}) must have each unit at most once, from large to "
                             "small, as in 1d12h30m",
                             *walltime));
  else if (*duration < std::chrono::seconds(1))
    problems.add("/resources/walltime", "resources.walltime must be at least 1s");
}

}  // namespace

void check_layout(const Facts& facts, Problems& problems) {
  check_divides(facts, "/resources/per_node", "/resources/devices", problems);
  check_parallel(facts, problems);
  check_walltime(facts, problems);
}

}  // namespace podium
