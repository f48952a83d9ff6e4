// Determined's training units: {batches: N}, {records: N}, {epochs: N}, and what they come to in batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/determined/experiment.h"
#include "cli/determined/hyperparameters.h"

namespace podium::cli {

struct Length {
  std::int64_t count = 0;
  std::string unit;  // "batches", "records", "epochs"
};

class Lengths {
 public:
  Lengths(DeterminedExperiment& experiment, const std::vector<Hyperparameter>& hyperparameters);

  // In batches where that can be told: the batch size is fixed and, of epochs, records_per_epoch is given.
  // Nothing where there is no such key; a note where it cannot be read, or keeps its unit.
  std::optional<Length> of(const std::string& pointer);

 private:
  std::optional<std::int64_t> in_batches(const Length& length) const;

  DeterminedExperiment& experiment_;
  std::optional<std::int64_t> batch_, epoch_;  // records
};

}  // namespace podium::cli
