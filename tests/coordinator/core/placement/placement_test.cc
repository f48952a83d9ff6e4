// Where gangs go: known answers on small clusters, and on random ones the best of all ways there are.
#include "coordinator/core/placement/placement.h"

#include <array>
#include <random>

#include "coordinator/core/policies/policy.h"
#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

struct SmallNode {
  int free = 0;
  NetworkPlace place;
};

FreeDevices free_of(const std::vector<SmallNode>& nodes) {
  FreeDevices free;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    free.set(i, nodes[i].free);
    free.place(i, nodes[i].place);
  }
  return free;
}

// What placement promises of a way to place a gang, the worse the larger.
struct Cost {
  bool several = false;    // nodes
  bool straddles = false;  // a tensor group over two nodes
  bool splits = false;     // a stage of the pipeline over several switches
  int level = 0;           // 1: one switch, 2: one spine, 3: neither
  int nodes = 0;           // of one switch
  int slowness = 0;        // of its links
  int tightness = 0;       // free devices of that switch
  auto operator<=>(const Cost&) const = default;
};

using Taken = std::vector<int>;  // devices, by node

// Whether it has stages, which fill the nodes that they are on.
bool has_stages_of_nodes(const Shape& shape) {
  return shape.pipeline > 1 && (shape.per_node == 0 || shape.devices / shape.pipeline % shape.per_node == 0);
}

// Whether whole stages can be laid over the switches as the devices are.
bool has_whole_stages(const std::vector<SmallNode>& nodes, const Taken& taken, const Shape& shape) {
  std::map<int, int> devices;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (taken[i] > 0) devices[nodes[i].place.leaf] += taken[i];
  const int stage = shape.devices / shape.pipeline;
  return std::ranges::all_of(devices,
                             [&](const auto& leaf) { return leaf.first != 0 && leaf.second % stage == 0; });
}

bool keeps_shape(const Taken& taken, const Shape& shape) {
  int total = 0, partial = 0;
  for (const int devices : taken) {
    total += devices;
    if (shape.per_node == 0 || devices == 0 || devices == shape.per_node) continue;
    if (devices != shape.devices % shape.per_node || ++partial > 1) return false;
  }
  return total == shape.devices;
}

Cost cost_of(const std::vector<SmallNode>& nodes, const Taken& taken, const Shape& shape) {
  Cost cost;
  std::set<int> leaves, spines;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (taken[i] == 0) continue;
    ++cost.nodes;
    leaves.insert(nodes[i].place.leaf);
    spines.insert(nodes[i].place.spine);
    if (shape.per_node == 0 && taken[i] % shape.tensor != 0) cost.straddles = true;
  }
  cost.several = cost.nodes > 1;
  if (!cost.several) return Cost{};
  cost.level = leaves.size() == 1 && !leaves.contains(0)   ? 1
               : spines.size() == 1 && !spines.contains(0) ? 2
                                                           : 3;
  if (cost.level > 1) {
    cost.nodes = 0;
    cost.splits = has_stages_of_nodes(shape) && !has_whole_stages(nodes, taken, shape);
    return cost;
  }
  for (const SmallNode& node : nodes) {
    if (!leaves.contains(node.place.leaf)) continue;
    cost.tightness += node.free;
    cost.slowness = -static_cast<int>(node.place.gbps);
  }
  return cost;
}

bool near_enough(const Cost& cost, Within within) {
  if (within == Within::node) return !cost.several;
  if (within == Within::leaf_switch) return cost.level <= 1;
  return within == Within::anywhere || cost.level <= 2;
}

std::optional<Cost> best_of_all(const std::vector<SmallNode>& nodes, const Shape& shape) {
  std::optional<Cost> best;
  Taken taken(nodes.size());
  while (true) {
    if (keeps_shape(taken, shape)) {
      const Cost cost = cost_of(nodes, taken, shape);
      if (near_enough(cost, shape.within) && (!best || cost < *best)) best = cost;
    }
    std::size_t i = 0;
    while (i < nodes.size() && taken[i] == nodes[i].free) taken[i++] = 0;
    if (i == nodes.size()) return best;
    ++taken[i];
  }
}

TEST(Placement, IsTheBestOfAllWays) {
  std::mt19937_64 engine(7);
  const auto below = [&](int bound) {
    return static_cast<int>(engine() % static_cast<std::uint64_t>(bound));
  };
  constexpr std::array kSpineOf{0, 1, 1, 2, 0};  // leaf 4 hangs under no known spine
  constexpr std::array<std::uint32_t, 5> kGbpsOf{0, 100, 100, 400, 200};
  std::array<int, 4> levels{};
  int stages_kept = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<SmallNode> nodes(static_cast<std::size_t>(1 + below(6)));
    for (SmallNode& node : nodes) {
      const int leaf = below(5);
      node = {below(5),
              {static_cast<std::uint16_t>(leaf),
               static_cast<std::uint16_t>(kSpineOf.at(static_cast<std::size_t>(leaf))),
               kGbpsOf.at(static_cast<std::size_t>(leaf))}};
    }
    Shape shape;
    shape.tensor = 1 + below(2);
    shape.devices = shape.tensor * (1 + below(5));
    shape.per_node = below(2) * below(4);
    shape.pipeline = shape.devices / shape.tensor % 3 == 0   ? 3
                     : shape.devices / shape.tensor % 2 == 0 ? 2
                                                             : 1;
    shape.within = static_cast<Within>(below(4));
    const FreeDevices free = free_of(nodes);
    const auto best = best_of_all(nodes, shape);
    const auto slices = choose(free, shape);
    ASSERT_EQ(fits(free, shape), best.has_value()) << "round " << round;
    ASSERT_EQ(slices.has_value(), best.has_value()) << "round " << round;
    if (!best) continue;
    Taken taken(nodes.size());
    for (const NodeSlice& slice : *slices) taken[slice.node] += slice.devices;
    for (std::size_t i = 0; i < nodes.size(); ++i) ASSERT_LE(taken[i], nodes[i].free) << "round " << round;
    ASSERT_TRUE(keeps_shape(taken, shape)) << "round " << round;
    const Cost cost = cost_of(nodes, taken, shape);
    ASSERT_TRUE(near_enough(cost, shape.within)) << "round " << round;
    ASSERT_EQ(cost, *best) << "round " << round << ": several " << cost.several << best->several
                           << ", straddles " << cost.straddles << best->straddles << ", level " << cost.level
                           << best->level << ", splits " << cost.splits << best->splits << ", nodes "
                           << cost.nodes << best->nodes << ", tightness " << cost.tightness << " "
                           << best->tightness;
    ++levels.at(static_cast<std::size_t>(cost.level));
    stages_kept += cost.level > 1 && has_stages_of_nodes(shape) && !cost.splits;
  }
  EXPECT_GT(stages_kept, 200);
  for (const int seen : levels) EXPECT_GT(seen, 200);
}

TEST(Placement, CountsFollowNodesThatMove) {
  FreeDevices free = free_of({{4, {1, 1}}, {8, {1, 1}}, {8, {2, 1}}});
  const FreeDevices copy = free;
  free.place(1, {2, 1});
  EXPECT_EQ(free.in_leaf(1)[7], 0);
  EXPECT_EQ(free.in_leaf(2)[7], 2);
  EXPECT_EQ(copy.in_leaf(1)[7], 1) << "a copy keeps its own";
}

class Topology : public ClusterTest {
 protected:
  void join_node(const std::string& id, const std::string& leaf, const std::string& spine, int island = 4,
                 Labels labels = {}) {
    NodeDescription node = node_with(id, 4, "gpu");
    for (Device& device : node.devices) device.island = device.index / island;
    labels.insert({{"switch", leaf}, {"spine", spine}});
    node.labels = std::move(labels);
    join(node);
  }
  // Its tasks have ended.
  void report_gone(const std::string& id) {
    const NodeDescription node = state_.nodes.at({id}).description;
    std::vector<Told> gone;
    for (const TaskOrder& order : node_orders(state_, node.id).tasks) gone.push_back({order.launch.task, {}});
    report(node, gone);
  }
  // "b:0,1 a:2,3": nodes and devices by rank.
  std::string ranks(JobId id) {
    std::string text;
    NodeId last;
    for (const Placement& place : job(id).attempt->allocation.ranks) {
      text += place.node == last ? "," : (text.empty() ? "" : " ") + place.node.value + ":";
      text += std::to_string(place.device);
      last = place.node;
    }
    return text;
  }
};

TEST_F(Topology, RanksFollowTheNetwork) {
  join_node("a", "leaf-2", "spine-2");
  join_node("b", "leaf-1", "spine-1");
  join_node("c", "leaf-9", "spine-1");
  join_node("d", "leaf-1", "spine-2");
  EXPECT_EQ(ranks(submit(request_for(16, 4, "gpu"))), "b:0,1,2,3 c:0,1,2,3 d:0,1,2,3 a:0,1,2,3");
}

TEST_F(Topology, AGangStaysUnderTheTightestSwitchThatHoldsIt) {
  for (const char* id : {"a", "b", "c"}) join_node(id, "leaf-1", "spine-1");
  for (const char* id : {"d", "e"}) join_node(id, "leaf-2", "spine-1");
  EXPECT_EQ(ranks(submit(request_for(8, 0, "gpu"))), "d:0,1,2,3 e:0,1,2,3");
  EXPECT_EQ(ranks(submit(request_for(12, 4, "gpu"))), "a:0,1,2,3 b:0,1,2,3 c:0,1,2,3");
}

TEST_F(Topology, TensorGroupsStayInTheirIslands) {
  join_node("a", "leaf-1", "spine-1", 2);
  submit(request_for(1, 0, "gpu"));
  JobRequest pair = request_for(2, 0, "gpu");
  pair.tensor = 2;
  EXPECT_EQ(ranks(submit(pair)), "a:2,3") << "device 1 has lost its partner";
}

TEST_F(Topology, TensorGroupsDoNotStraddleNodesWhereTheyNeedNot) {
  join_node("a", "leaf-1", "spine-1");
  join_node("b", "leaf-1", "spine-1");
  join_node("c", "leaf-1", "spine-1");
  submit(request_for(1, 0, "gpu"));
  JobRequest request = request_for(8, 0, "gpu");
  request.tensor = 4;
  EXPECT_EQ(ranks(submit(request)), "b:0,1,2,3 c:0,1,2,3");
}

TEST_F(Topology, StagesStayUnderOneSwitch) {
  for (const char* id : {"a", "b", "c"}) join_node(id, "leaf-1", "spine-1");
  for (const char* id : {"d", "e", "f"}) join_node(id, "leaf-2", "spine-1");
  JobRequest request = request_for(16, 4, "gpu");
  EXPECT_EQ(ranks(submit(request)), "a:0,1,2,3 b:0,1,2,3 c:0,1,2,3 d:0,1,2,3") << "without stages";
  turn(CancelJob{{1}});
  for (const char* id : {"a", "b", "c", "d"}) report_gone(id);
  request.pipeline = 2;
  EXPECT_EQ(ranks(submit(request)), "a:0,1,2,3 b:0,1,2,3 d:0,1,2,3 e:0,1,2,3");
}

TEST_F(Topology, AGangOverNodesGetsTheFasterNetwork) {
  const Labels slow{{"rails", "4"}, {"rail_gbps", "100"}}, fast{{"rails", "8"}, {"rail_gbps", "400"}};
  for (const char* id : {"a", "b"}) join_node(id, "leaf-1", "spine-1", 4, slow);
  for (const char* id : {"c", "d", "e"}) join_node(id, "leaf-2", "spine-1", 4, fast);
  EXPECT_EQ(ranks(submit(request_for(8, 4, "gpu"))), "c:0,1,2,3 d:0,1,2,3") << "though the other is tighter";
}

TEST_F(Topology, AGangOverSwitchesGetsTheFasterSpine) {
  for (const char* id : {"a", "b"}) join_node(id, id, "spine-1", 4, {{"uplink_gbps", "100"}});
  for (const char* id : {"c", "d", "e"}) join_node(id, id, "spine-2", 4, {{"uplink_gbps", "200"}});
  for (const char* id : {"a", "b", "c", "d", "e"}) turn(LabelNode{{id}, {{"rail_gbps", "400"}}});
  EXPECT_EQ(ranks(submit(request_for(8, 4, "gpu"))), "c:0,1,2,3 e:0,1,2,3");
}

TEST_F(Topology, APartOfAnIslandIsOnOneNumaNode) {
  NodeDescription node = node_with("a", 8, "gpu");
  for (Device& device : node.devices) {
    device.island = 0;
    device.numa = device.index < 5 ? 0 : 1;
  }
  join(node);
  EXPECT_EQ(ranks(submit(request_for(2, 0, "gpu"))), "a:5,6") << "the tighter";
  EXPECT_EQ(ranks(submit(request_for(4, 0, "gpu"))), "a:0,1,2,3");
  EXPECT_EQ(ranks(submit(request_for(2, 0, "gpu"))), "a:4,7");
}

TEST_F(Topology, OnRailsTheNodesGiveTheSameDevices) {
  for (const char* rails : {"1", "4"}) {
    state_ = {};
    for (const char* id : {"a", "b"}) join_node(id, "leaf-1", "spine-1", 4, {{"rails", rails}});
    EXPECT_EQ(ranks(submit(request_for(2, 2, "gpu"))), "a:0,1");
    EXPECT_EQ(ranks(submit(request_for(4, 2, "gpu"))),
              rails == std::string("1") ? "a:2,3 b:0,1" : "a:2,3 b:2,3");
  }
}

TEST_F(Topology, ADemandIsHard) {
  for (const char* id : {"a", "b"}) join_node(id, "leaf-1", "spine-1");
  for (const char* id : {"c", "d"}) join_node(id, "leaf-2", "spine-1");
  submit(request_for(1, 0, "gpu"));
  submit(request_for(4, 4, "gpu"));
  JobRequest request = request_for(12, 0, "gpu");
  request.within = Within::leaf_switch;
  const auto refused = turn(SubmitExperiment{"test", {request}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors()[0].message,
            "job \"job\" asks for 12 gpu devices under one switch; the most under one is 8");
  request.devices = 8;
  EXPECT_EQ(ranks(submit(request)), "c:0,1,2,3 d:0,1,2,3");
  const JobId waiting = submit(request);
  EXPECT_EQ(reason(waiting),
            "needs 8 free gpu devices on nodes under one switch that are up; the most under one is 3");
  request.per_node = 4;
  EXPECT_EQ(
      shortage(state_.indexes.pools.at({"gpu", {}}).free, request).sentence,
      "needs 2 nodes that are up under one switch with 4 free gpu devices each; the most under one is 0");
}

}  // namespace
}  // namespace podium
