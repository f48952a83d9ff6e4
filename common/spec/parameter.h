// Parameters of a job by their dotted path, "training.optimizer.lr": sweeps vary them and the command line
// overrides them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/spec/problems.h"

namespace podium {

struct Override;

// "training.optimizer.lr" -> "/training/optimizer/lr"
std::string pointer_of(const std::string& path);

// Whether `path` is one value of a job, or a label.
bool is_parameter(const std::string& path);

// The message for a path that is not a parameter: "; did you mean …?"
std::string why_no_parameter(const std::string& path, const nlohmann::json& document);

// Makes missing mappings on the path; does nothing where another value is in the way.
void set_parameter(nlohmann::json& document, const std::string& path, nlohmann::json value);

// Sets what the command line writes. Adds a problem for each path that is no parameter; from then on a
// problem with an overridden value is placed beside the file.
void apply_overrides(const std::vector<Override>& overrides, nlohmann::json& document, SourceMap& places,
                     Problems& problems);

}  // namespace podium
