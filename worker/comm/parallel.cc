#include "worker/comm/parallel.h"

#include <map>
#include <tuple>

#include "common/base/check.h"

namespace podium {
namespace {

using Groups = std::vector<std::vector<int>>;

// Puts into one group, in order of their ranks, all whose places have the same key.
template <class Key>
Groups group_by(const ParallelLayout& layout, Key key) {
  std::map<decltype(key(ParallelPlace{})), std::vector<int>> groups;
  for (int rank = 0; rank < layout.world(); ++rank) groups[key(place_of(layout, rank))].push_back(rank);
  Groups result;
  for (auto& [unused, ranks] : groups) result.push_back(std::move(ranks));
  return result;
}

}  // namespace

ParallelPlace place_of(const ParallelLayout& layout, int rank) {
  return {.tensor = rank % layout.tensor,
          .pipeline = rank / layout.tensor / layout.data,
          .data = rank / layout.tensor % layout.data};
}

int rank_of(const ParallelLayout& layout, const ParallelPlace& place) {
  return (place.pipeline * layout.data + place.data) * layout.tensor + place.tensor;
}

ParallelGroups make_groups(Communicator& world, const ParallelLayout& layout) {
  PODIUM_CHECK(layout.world() == world.size(), "the layout is not of this world's size");
  using Place = const ParallelPlace&;
  const auto split = [&](const std::string& name, auto key) {
    return world.split(group_by(layout, key), name);
  };
  ParallelGroups groups{.layout = layout, .place = place_of(layout, world.rank())};
  groups.tensor = split("tensor", [](Place p) { return std::tuple(p.pipeline, p.data); });
  groups.pipeline = split("pipeline", [](Place p) { return std::tuple(p.data, p.tensor); });
  groups.data = split("data", [](Place p) { return std::tuple(p.pipeline, p.tensor); });
  groups.model = split("model", [](Place p) { return p.data; });
  groups.ends = split("ends", [&](Place p) {
    const int middle = p.pipeline < layout.pipeline - 1 ? p.pipeline : 0;  // 0 for both ends
    return std::tuple(middle, p.data, p.tensor);
  });
  return groups;
}

}  // namespace podium
