// What the devices of jobs drew, from the reports of nodes as they come. Pure.
//
// A GPU's energy is the area under its power, on a straight line from one report to the next. CPU slots share
// the packages of their node: what these drew between two reports is a job's where it alone held devices of
// the node; else nobody can say whose it was. Of the time between reports that are more than kLongestGap
// apart, or of which one lacks the reading, nothing is known and nothing is guessed: energy comes with the
// device time that it covers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/device_reading.h"

namespace podium {

// What an attempt's devices of one node drew from one report to the next.
struct DrawnEnergy {
  AttemptId attempt;
  Time from, to;
  double joules = 0;
  std::int64_t covered_ms = 0;  // of device time: that the joules are of
  std::int64_t shared_ms = 0;   // of device time: of CPU slots, while other jobs held devices of the node

  bool operator==(const DrawnEnergy&) const = default;
};

// An attempt and its devices of one node.
struct HolderOnNode {
  AttemptId attempt;
  Time since;  // that the attempt was created
  std::string kind;
  std::vector<int> devices;
};

struct PowerReport {
  std::string boot;  // of the agent: its joules count from there
  std::vector<DeviceReading> readings;
  std::optional<double> package_joules;
};

class EnergyMeter {
 public:
  // `holders`: from the node's report before until this one. What began in between counts from its begin.
  std::vector<DrawnEnergy> take(const NodeId& node, Time now, PowerReport report,
                                const std::vector<HolderOnNode>& holders);

  static constexpr Duration kLongestGap = std::chrono::minutes(1);

 private:
  struct Last {
    Time at;
    PowerReport report;
  };
  std::map<NodeId, Last> last_;
};

struct EnergySum {
  double joules = 0;
  std::int64_t covered_ms = 0, shared_ms = 0;

  bool operator==(const EnergySum&) const = default;
};

// What was drawn across `until` counts in part.
EnergySum sum_of(const std::vector<DrawnEnergy>& all, std::optional<Time> until);

}  // namespace podium
