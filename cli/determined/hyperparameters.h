// The hyperparameters as the parameters of a program: nested ones by one name, and what a search varies.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/determined/experiment.h"

namespace podium::cli {

struct Hyperparameter {
  std::string pointer;              // in the experiment
  std::string name;                 // of the parameter
  nlohmann::json value;             // of a constant: a number, text or a boolean; null where it is varied
  nlohmann::json values = nullptr;  // a list of them
  nlohmann::json range = nullptr;   // {"from", "to", "scale", "integer"}, as a sweep has it
  nlohmann::json grid = nullptr;    // the values that a grid takes of the range; null where it gives no count

  bool varied() const { return value.is_null(); }
};

std::vector<Hyperparameter> hyperparameters_of(DeterminedExperiment& experiment);

// A value that a program's parameter can be: lists and mappings become their JSON text.
nlohmann::json plain_value(const nlohmann::json& value);

}  // namespace podium::cli
