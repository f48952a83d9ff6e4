#include "agent/device/gpu_topology.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(FindIslands, AreTheConnectedPartsOfTheNvlinks) {
  GpuWiring wiring(7);  // a chain 1 - 3 - 6, a pair 2 = 5, and 0 and 4 alone
  wiring.links[1][3] = wiring.links[3][1] = wiring.links[3][6] = wiring.links[6][3] = 1;
  wiring.links[2][5] = wiring.links[5][2] = 4;
  EXPECT_EQ(find_islands(wiring), (std::vector<int>{-1, 0, 1, 0, -1, 1, 0}));
}

TEST(FindIslands, SwitchesJoinAllThatTheyLink) {
  GpuWiring wiring(4);
  wiring.switch_links = {12, 12, 0, 6};
  EXPECT_EQ(find_islands(wiring), (std::vector<int>{0, 0, -1, 0}));
  EXPECT_EQ(name_paths(wiring)[0], (std::vector<std::string>{"X", "NV12", "?", "NV6"}));
}

TEST(FindIslands, ALinkThatOneEndAloneTellsOfCounts) {
  GpuWiring wiring(2);
  wiring.links[1][0] = 2;
  EXPECT_EQ(find_islands(wiring), (std::vector<int>{0, 0}));
  EXPECT_EQ(name_paths(wiring)[0][1], "NV2");
}

TEST(NamePaths, GoOverPcieWhereThereIsNoLink) {
  GpuWiring wiring(3);
  wiring.levels = {{0, 30, 40}, {30, 0, GpuWiring::kUnknownLevel}, {40, GpuWiring::kUnknownLevel, 0}};
  EXPECT_EQ(name_paths(wiring), (std::vector<std::vector<std::string>>{
                                    {"X", "PHB", "NODE"}, {"PHB", "X", "?"}, {"NODE", "?", "X"}}));
}

}  // namespace
}  // namespace podium
