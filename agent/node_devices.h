// The node's devices as the agent reports them: those found at the start, with their last health and
// readings. Decides which GPUs must not get a task yet: a GPU whose memory any process holds is not free. On
// the agent's executor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/gpu_watch.h"
#include "common/model/device_reading.h"
#include "common/model/node.h"

namespace podium {

class NodeDevices {
 public:
  explicit NodeDevices(std::vector<Device> devices);

  // Watches the GPUs from now on; they count as occupied until the first look. `request_look`:
  // GpuWatch::request_look. Without a watch no GPU is ever occupied.
  void set_watch(std::function<std::uint64_t()> request_look);

  const std::vector<Device>& list() const { return devices_; }
  // For reports: on a node that cannot start tasks no device is healthy.
  std::vector<Device> reported() const;
  // Sets why the node cannot start tasks; "": it can. Returns whether the reason changed.
  bool set_node_health(const std::string& reason);
  const std::vector<DeviceReading>& readings() const { return readings_; }
  const Device* find(const std::string& kind, int index) const;  // nullptr: there is none

  // Call when a task's processes have ended: its GPU stays occupied until a later look finds its memory free.
  void left(const std::string& kind, int index);

  // GPUs that must not get a task, by index.
  std::set<int> occupied() const;

  // `in_use`: GPUs that tasks hold; other processes on them are ignored. Returns whether a device's health
  // changed.
  bool take(const GpuLook& look, const std::set<int>& in_use);

 private:
  std::string judge_holders(int index, const std::vector<MemoryHolder>& holders);

  std::vector<Device> devices_;
  std::string node_health_;
  std::vector<DeviceReading> readings_;
  std::function<std::uint64_t()> request_look_;
  std::map<int, std::uint64_t> left_;     // GPUs that tasks have left: the look that will tell
  std::map<int, std::set<int>> held_by_;  // GPUs whose memory processes of no task hold: their pids
};

}  // namespace podium
