// fits and choose: the search over nodes, by their number of free devices, and over switches. In this order
// it prefers one node, tensor groups within a node, one leaf switch, pipeline stages that do not cross
// switches, one spine, few nodes, fast links, and the tightest group of nodes and the tightest nodes, so that
// large holes stay large. Between equals the node that joined first decides.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "coordinator/core/placement/choose_stages.h"
#include "coordinator/core/placement/gang_need.h"
#include "coordinator/core/placement/placement.h"

namespace podium {
namespace {

// Leaf switches that are used together.
struct Group {
  std::vector<std::size_t> leaves;
  std::vector<std::int32_t> counts;

  void add(std::size_t leaf, NodeCounts more) {
    leaves.push_back(leaf);
    add(more);
  }
  void add(NodeCounts more) {
    if (counts.size() < more.size()) counts.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) counts[i] += more[i];
  }
};

std::vector<Group> by_spine(const FreeDevices& free) {
  std::vector<Group> spines;
  for (std::size_t leaf = 0; leaf < free.leaves(); ++leaf) {
    const std::size_t spine = free.spine_of(leaf);
    if (spine >= spines.size()) spines.resize(spine + 1);
    spines[spine].add(leaf, free.in_leaf(leaf));
  }
  return spines;
}

class Search {
 public:
  Search(const FreeDevices& free, const Need& need) : free_(free), need_(need), first_(free) {}

  // The leaf switch that holds the gang best.
  std::optional<std::size_t> best_leaf() {
    std::optional<std::size_t> best;
    Score best_score{};
    for (std::size_t leaf = 1; leaf < free_.leaves(); ++leaf) {
      const NodeCounts counts = free_.in_leaf(leaf);
      if (!need_.held_by(counts)) continue;
      const Score here = score(counts, free_.gbps_in(leaf));
      if (best && best_score < here) continue;
      if (best && best_score == here && first_.under(*best) < first_.under(leaf)) continue;
      best = leaf;
      best_score = here;
    }
    return best;
  }

  // Several leaf switches from which the nodes are taken; empty where no group of near switches holds the
  // gang.
  std::vector<std::size_t> leaves(Within within) {
    std::vector<Group> spines = by_spine(free_);
    if (const Group* spine = best_spine(spines)) return fewest(one_by_one(spine->leaves)).leaves;
    if (within == Within::spine) return {};
    return fewest(one_by_one(fewest(std::move(spines)).leaves)).leaves;
  }

 private:
  // The score of a group that holds the gang: smaller is better.
  struct Score {
    int nodes;
    std::int64_t slowness;  // of the network between its nodes
    std::int64_t free;
    auto operator<=>(const Score&) const = default;
  };
  Score score(NodeCounts counts, std::uint32_t gbps) const {
    return {need_.nodes_of(counts), -std::int64_t{gbps}, devices_in(counts)};
  }

  const Group* best_spine(const std::vector<Group>& spines) {
    const Group* best = nullptr;
    for (std::size_t spine = 1; spine < spines.size(); ++spine) {
      const Group& here = spines[spine];
      if (!need_.held_by(here.counts)) continue;
      if (!best || std::pair(score(here), first_of(here)) < std::pair(score(*best), first_of(*best)))
        best = &here;
    }
    return best;
  }
  Score score(const Group& spine) const {
    std::uint32_t slowest = UINT32_MAX;
    for (const std::size_t leaf : spine.leaves)
      if (devices_in(free_.in_leaf(leaf)) > 0)
        slowest = std::min({slowest, free_.gbps_in(leaf), free_.gbps_beyond(leaf)});
    return score(spine.counts, slowest);
  }

  std::vector<Group> one_by_one(const std::vector<std::size_t>& leaves) const {
    std::vector<Group> groups(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) groups[i].add(leaves[i], free_.in_leaf(leaves[i]));
    return groups;
  }

  // Few groups that together hold the gang: the largest, and for the remainder the smallest that holds it.
  Group fewest(std::vector<Group> groups) {
    std::ranges::sort(groups, [&](const Group& a, const Group& b) {
      return std::pair(-need_.size_of(a.counts), first_of(a)) <
             std::pair(-need_.size_of(b.counts), first_of(b));
    });
    Group taken;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Group with = joined(taken, groups[i]);
      if (!need_.held_by(with.counts)) {
        taken = std::move(with);
        continue;
      }
      for (std::size_t smaller = groups.size(); --smaller > i;)
        if (Group tight = joined(taken, groups[smaller]); need_.held_by(tight.counts)) return tight;
      return with;
    }
    return {};
  }

  static Group joined(Group a, const Group& b) {
    a.leaves.insert(a.leaves.end(), b.leaves.begin(), b.leaves.end());
    a.add(b.counts);
    return a;
  }

  std::size_t first_of(const Group& group) {
    std::size_t first = SIZE_MAX;
    for (const std::size_t leaf : group.leaves) first = std::min(first, first_.under(leaf));
    return first;
  }

  const FreeDevices& free_;
  const Need& need_;
  FirstNodes first_;
};

// Picks the nodes of a gang from those under the switches it may use.
class Picker {
 public:
  Picker(const FreeDevices& free, const Need& need, const std::vector<std::size_t>& leaves)
      : free_(free), need_(need), open_(free.leaves()) {
    for (const std::size_t leaf : leaves) open_[leaf] = true;
  }

  NodeSlices pick() {
    if (need_.even()) {
      tightest(need_.per_node(), need_.full());
      if (need_.rest() > 0) tightest(need_.rest(), 1);
    } else {
      packed();
    }
    return std::move(slices_);
  }

 private:
  // Adds `nodes` nodes that give `devices` each, those with the fewest free first.
  void tightest(int devices, int nodes) {
    const auto before = std::ssize(slices_);
    const int most = free_.most();
    for (int with = devices; with <= most && nodes > 0; ++with) {
      if (need_.usable(with) < devices) continue;
      free_.each_with(with, [&](std::size_t node) {
        if (!open_[free_.leaf(node)] || taken(node, before)) return true;
        slices_.push_back({node, devices});
        return --nodes > 0;
      });
    }
  }

  // Takes whole the nodes with the most free devices, and for the remainder the tightest node.
  void packed() {
    int left = need_.devices();
    bool last = false;  // the node at hand could give all that is left
    for (int with = free_.most(); with > 0 && !last; --with) {
      const int each = need_.usable(with);
      free_.each_with(with, [&](std::size_t node) {
        if (!open_[free_.leaf(node)]) return true;
        last = each >= left;
        if (last || each == 0) return false;
        slices_.push_back({node, each});
        left -= each;
        return true;
      });
    }
    tightest(left, 1);
  }

  bool taken(std::size_t node, std::ptrdiff_t before) const {
    const auto end = slices_.begin() + before;
    return std::find_if(slices_.begin(), end, [&](const NodeSlice& s) { return s.node == node; }) != end;
  }

  const FreeDevices& free_;
  const Need& need_;
  std::vector<char> open_;  // by leaf
  NodeSlices slices_;
};

bool one_switch_holds(const FreeDevices& free, const Need& need) {
  for (std::size_t leaf = 1; leaf < free.leaves(); ++leaf)
    if (need.held_by(free.in_leaf(leaf))) return true;
  return false;
}

bool one_spine_holds(const FreeDevices& free, const Need& need) {
  const std::vector<Group> spines = by_spine(free);
  return std::ranges::any_of(spines.begin() + 1, spines.end(),
                             [&](const Group& spine) { return need.held_by(spine.counts); });
}

bool may_be_one_node(const Shape& shape) { return shape.per_node == 0 || shape.devices <= shape.per_node; }

std::vector<std::size_t> all_leaves(const FreeDevices& free) {
  std::vector<std::size_t> leaves(free.leaves());
  std::iota(leaves.begin(), leaves.end(), 0);
  return leaves;
}

// A place over several switches, with every stage of the pipeline under one.
std::optional<NodeSlices> pick_stages(const FreeDevices& free, const Shape& shape, bool whole) {
  const std::vector<LeafStages> spread = spread_stages(free, shape, whole);
  if (spread.empty()) return std::nullopt;
  NodeSlices slices;
  for (const LeafStages& here : spread) {
    Shape part = shape;
    part.devices = here.stages * (shape.devices / shape.pipeline);
    const NodeSlices of_leaf = Picker(free, Need(part, whole), {here.leaf}).pick();
    slices.insert(slices.end(), of_leaf.begin(), of_leaf.end());
  }
  return slices;
}

}  // namespace

bool fits(const FreeDevices& free, const Shape& shape) {
  if (may_be_one_node(shape) && free.most() >= shape.devices) return true;
  if (shape.within == Within::node) return false;
  const Need need(shape, false);
  if (shape.within != Within::anywhere)
    return one_switch_holds(free, need) || (shape.within == Within::spine && one_spine_holds(free, need));
  if (!need.even()) return free.total() >= shape.devices;
  return free.nodes_with(need.per_node()) >= need.full() &&
         (need.rest() == 0 || free.nodes_with(need.rest()) >= need.full() + 1);
}

std::optional<NodeSlices> choose(const FreeDevices& free, const Shape& shape) {
  if (!fits(free, shape)) return std::nullopt;
  if (may_be_one_node(shape) && free.most() >= shape.devices) {
    const Need one({shape.devices, shape.devices}, false);
    return Picker(free, one, all_leaves(free)).pick();
  }
  const bool groups = shape.tensor > 1 && shape.per_node == 0;
  for (const bool whole : {true, false}) {
    if (whole && !groups) continue;
    const Need need(shape, whole);
    Search search(free, need);
    if (const auto leaf = search.best_leaf()) return Picker(free, need, {*leaf}).pick();
    if (shape.within == Within::leaf_switch) continue;
    if (auto slices = pick_stages(free, shape, whole)) return slices;
    const std::vector<std::size_t> leaves = search.leaves(shape.within);
    if (!leaves.empty()) return Picker(free, need, leaves).pick();
  }
  return std::nullopt;
}

}  // namespace podium
