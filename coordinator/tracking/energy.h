// The energy that the devices of jobs drew, from the reports of nodes. Pure.
//
// A GPU's energy is the integral of its power, interpolated linearly between reports. CPU slots share the
// processor packages of their node: the energy of these between two reports belongs to a job if it alone held
// devices of the node; otherwise it cannot be attributed. Between reports that are more than kLongestGap
// apart, or of which one lacks the reading, nothing is guessed: every energy comes with the device time that
// it covers.
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

// The energy that an attempt's devices on one node drew between two reports.
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
  // `holders`: the attempts that held devices between the node's previous report and this one. An attempt
  // that began in between counts from its beginning.
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

// An interval that contains `until` counts in part.
EnergySum sum_of(const std::vector<DrawnEnergy>& all, std::optional<Time> until);

}  // namespace podium
