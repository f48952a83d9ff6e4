#include "common/model/node_preset.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace podium {
namespace {

TEST(NodePreset, MakesWholeNodes) {
  for (const std::string& name : node_preset_names()) {
    const NodePreset* preset = find_node_preset(name);
    ASSERT_NE(preset, nullptr) << name;
    const NodeDescription node = artificial_node(*preset, {"node-1"});
    EXPECT_EQ(node.labels.at("kind"), name);
    ASSERT_EQ(std::ssize(node.devices), preset->devices);
    EXPECT_EQ(std::ranges::count(node.devices, 0, &Device::island), preset->island) << name;
    EXPECT_EQ(node_description_from_json(to_json(node)), node) << name;
  }
  EXPECT_EQ(find_node_preset("dgx-9"), nullptr);
}

TEST(NodePreset, NumbersIslandsOfGpusOnly) {
  std::vector<Device> devices(5);
  for (const int gpu : {0, 1, 2, 3}) devices[static_cast<std::size_t>(gpu)].kind = "gpu";
  number_islands({"pairs", "", 4, 0, 2}, devices);
  std::vector<int> islands;
  for (const Device& device : devices) islands.push_back(device.island);
  EXPECT_EQ(islands, (std::vector<int>{0, 0, 1, 1, -1}));
}

TEST(NodePreset, DevicesWithoutAnIslandReadBackSo) {
  EXPECT_EQ(device_from_json({{"index", 0}, {"kind", "cpu"}}).island, -1);
  EXPECT_FALSE(to_json(Device{}).contains("island")) << "older readers see what they always saw";
}

}  // namespace
}  // namespace podium
