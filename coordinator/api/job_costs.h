// What a job drew and cost, for its ledger and for comparisons.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "coordinator/store/reader.h"
#include "coordinator/tracking/cost.h"
#include "coordinator/tracking/ledger.h"

namespace podium {

struct JobEnergy {
  EnergySum all;
  double covered = 0, shared = 0;               // fractions of the device time that was held
  std::optional<double> samples;                // of the steps that count; none of programs
  std::optional<double> per_sample, to_target;  // joules, where nearly all of the time is covered
};

struct JobCost {
  Cost all;
  std::optional<double> to_target;  // of a job that has reached its target
};

struct JobCosts {
  std::optional<JobEnergy> energy;  // none where nothing was measured
  std::optional<JobCost> cost;      // none without prices, or where nothing was held
};

// Below this coverage of the device time, figures per sample and to the target would be too small, so they
// are absent.
inline constexpr double kEnoughCovered = 0.95;

JobCosts costs_of(Reader& reader, const JobView& job, const std::vector<LedgerPiece>& pieces,
                  const Prices& prices);

// null for what is absent
nlohmann::json to_json(const std::optional<JobEnergy>& energy);
nlohmann::json to_json(const std::optional<JobCost>& cost, const Prices& prices);

}  // namespace podium
