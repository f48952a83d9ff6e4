#include "worker/train/measured_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/comm/parallel.h"
#include "worker/input/bad_data.h"
#include "worker/input/page_cache.h"
#include "worker/input/text_files.h"
#include "worker/train/job_model.h"
#include "worker/train/sum_over.h"

namespace podium {
namespace {

// Of this node's data; false where some of it cannot be opened, which its reader will tell.
bool clear_data(const Launch& launch) {
  std::vector<std::string> patterns = launch.spec.data.train;
  patterns.push_back(launch.spec.evaluate.data);
  try {
    return forget_cached(expand_globs(patterns, launch.data_folder));
  } catch (const BadData&) {
    return false;
  }
}

// Whether all nodes have put their data out of their caches.
bool clear_caches(const Launch& launch, Communicator& world) {
  const bool first = launch.local_rank == 0;
  Sums nodes{first ? 1.0 : 0.0, first && clear_data(launch) ? 1.0 : 0.0};
  sum_over(world, nodes);
  return nodes[0] == nodes[1];
}

std::optional<FirstStart> first_start_of(const LaunchClock& told) {
  if (!told.first_start) return std::nullopt;
  return FirstStart{*told.first_start, told.first_steps};
}

}  // namespace

std::unique_ptr<MlperfLog> begin_measured_run(const Launch& launch, const LaunchClock& known, Time began,
                                              const std::string& device, const Clock& clock,
                                              Communicator& world) {
  const bool lead = world.rank() == 0;
  const LogClock by{clock, known.ahead.has_value(), known.steps};
  auto log = lead ? std::make_unique<MlperfLog>(launch.checkpoint_folder, launch.spec, by) : nullptr;
  Sums told(static_cast<std::size_t>(world.size()) + 1, 0.0);
  told[static_cast<std::size_t>(world.rank())] = static_cast<double>(to_millis(began));
  told.back() = lead && log->continues() ? 1 : 0;
  sum_over(world, told);
  if (told.back() > 0) return log;
  const bool cleared = clear_caches(launch, world);
  if (lead) {
    std::vector<Time> starts;
    for (int rank = 0; rank < world.size(); ++rank)
      starts.push_back(from_millis(static_cast<std::int64_t>(told[static_cast<std::size_t>(rank)])));
    std::ranges::sort(starts);
    log->begin(starts,
               mlperf_header(launch.spec, fmt::format("{} x {}", world.size(), device),
                             layout_of(launch.spec, launch.world_size).data),
               cleared, first_start_of(known));
  }
  world.barrier();
  return log;
}

}  // namespace podium
