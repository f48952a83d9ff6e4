#include "coordinator/core/placement/choose_stages.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "coordinator/core/placement/gang_need.h"

namespace podium {
namespace {

using Leaves = std::vector<LeafStages>;

// How many stages each switch could hold, by spine; switches that hold none are left out.
std::map<std::size_t, Leaves> room_by_spine(const FreeDevices& free, const Shape& shape, bool whole) {
  const Need need(shape, whole);
  const int devices = shape.devices / shape.pipeline;
  const std::int64_t of_stage = need.even() ? devices / shape.per_node : devices;
  std::map<std::size_t, Leaves> spines;
  for (std::size_t leaf = 1; leaf < free.leaves(); ++leaf) {
    const std::int64_t stages = need.size_of(free.in_leaf(leaf)) / of_stage;
    if (stages > 0) spines[free.spine_of(leaf)].push_back({leaf, static_cast<int>(stages)});
  }
  return spines;
}

int stages_in(const Leaves& leaves) {
  int stages = 0;
  for (const LeafStages& leaf : leaves) stages += leaf.stages;
  return stages;
}

// The switches with the most room, and for the remainder the tightest that holds it.
Leaves fewest(Leaves leaves, int stages, FirstNodes& first) {
  std::ranges::sort(leaves, [&](const LeafStages& a, const LeafStages& b) {
    return std::tuple(b.stages, first.under(a.leaf)) < std::tuple(a.stages, first.under(b.leaf));
  });
  Leaves taken;
  for (auto next = leaves.begin(); stages > 0; ++next) {
    if (next->stages < stages) {
      taken.push_back(*next);
      stages -= next->stages;
      continue;
    }
    const auto enough = [&](const LeafStages& leaf) { return leaf.stages >= stages; };
    const auto tightest = std::prev(std::ranges::partition_point(next, leaves.end(), enough));
    taken.push_back({tightest->leaf, stages});
    stages = 0;
  }
  return taken;
}

}  // namespace

std::vector<LeafStages> spread_stages(const FreeDevices& free, const Shape& shape, bool whole) {
  if (shape.pipeline <= 1 || shape.devices % (shape.pipeline * shape.tensor) != 0) return {};
  if (shape.per_node > 0 && shape.devices / shape.pipeline % shape.per_node != 0) return {};
  FirstNodes first(free);
  Leaves all, best;
  std::tuple<std::size_t, int, std::size_t> best_score;
  for (const auto& [spine, leaves] : room_by_spine(free, shape, whole)) {
    all.insert(all.end(), leaves.begin(), leaves.end());
    if (spine == 0 || stages_in(leaves) < shape.pipeline) continue;
    Leaves taken = fewest(leaves, shape.pipeline, first);
    const std::tuple score(taken.size(), stages_in(leaves), first.under(taken.front().leaf));
    if (!best.empty() && best_score < score) continue;
    best = std::move(taken);
    best_score = score;
  }
  if (!best.empty() || shape.within == Within::spine) return best;
  if (stages_in(all) < shape.pipeline) return {};
  return fewest(std::move(all), shape.pipeline, first);
}

}  // namespace podium
