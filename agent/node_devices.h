// The node's devices as the agent reports them: what was found at the start, with health and readings as last
// seen. Decides which GPUs must not get a task yet: one whose memory is still held is not free, whoever
// holds it. On the agent's executor.
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

  // The GPUs are watched from now on, and occupied until they were seen; `request_look` as GpuWatch has it.
  // Without a watch none is ever occupied.
  void set_watch(std::function<std::uint64_t()> request_look);

  const std::vector<Device>& list() const { return devices_; }
  // As the coordinator hears of them: none is healthy on a node that cannot start tasks.
  std::vector<Device> reported() const;
  // Why the node cannot start tasks; "": it can. True when that was another reason before.
  bool set_node_health(const std::string& reason);
  const std::vector<DeviceReading>& readings() const { return readings_; }
  const Device* find(const std::string& kind, int index) const;  // nullptr: there is none

  // A task's processes have ended: its GPU is occupied until a later look finds its memory free.
  void left(const std::string& kind, int index);

  // GPUs that must not get a task, by index.
  std::set<int> occupied() const;

  // `in_use`: GPUs that tasks hold, on which other processes are not looked for. True when a health changed.
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
