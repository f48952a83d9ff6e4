// The cost of the devices that a job held, at a price per device-hour. Pure. Where a part has no price the
// whole cost is absent: a cost is never partial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

struct Price {
  std::string kind;   // of device
  std::string model;  // "": any of the kind that has no price of its own
  double per_device_hour = 0;

  bool operator==(const Price&) const = default;
};

struct Prices {
  std::string currency;
  std::vector<Price> list;

  bool empty() const { return list.empty(); }
  bool operator==(const Prices&) const = default;
};

// "gpu=2.50", "gpu/NVIDIA H200=4.10"
Result<Price> parse_price(const std::string& text);

bool of_same_devices(const Price& a, const Price& b);

// Null where there is none. Models are compared without regard to case.
const Price* price_of(const Prices& prices, const std::string& kind, const std::string& model);

// Devices that an attempt held on one node.
struct HeldDevices {
  int attempt = 0;
  int devices = 0;
  std::string kind;
  std::vector<std::string> models;  // different ones of that kind on the node; empty: not known

  bool operator==(const HeldDevices&) const = default;
};

struct CostPart {
  std::string kind, model;
  double per_device_hour = 0;
  double device_hours = 0;

  bool operator==(const CostPart&) const = default;
};

struct Cost {
  std::optional<double> amount;       // none where something has no price
  std::vector<CostPart> parts;        // by kind and model
  std::vector<std::string> unpriced;  // "gpu NVIDIA H200"
};

// The cost of what was held until `until`, or so far.
Cost cost_of(const std::vector<LedgerPiece>& pieces, const std::vector<HeldDevices>& held,
             const Prices& prices, std::optional<Time> until);

}  // namespace podium
