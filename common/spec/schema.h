// schemas/experiment.schema.json at work: valijson judges a document, explain.h puts its verdict into words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/suggest.h"

namespace podium {

const nlohmann::json& experiment_schema();

// Follows "$ref" to the schema that is meant.
const nlohmann::json& resolved(const nlohmann::json& schema);

// The schema that governs the value at `pointer`; null where none does (below an unknown key).
const nlohmann::json* schema_of(const nlohmann::json::json_pointer& pointer);

// Every key of the format and every name people use for it, with its dotted path: ("learning_rate",
// "training.optimizer.lr"). Keys within lists, which have no such path, are left out.
const std::vector<Suggestion>& all_keys();

// The same of one mapping, with paths from there: ("learning_rate", "optimizer.lr") of a phase.
std::vector<Suggestion> keys_below(const nlohmann::json& schema);

// Adds a problem for each list that is longer than its schema allows. Comes before anything that looks at
// items: what that costs is then bounded.
void check_lengths(const nlohmann::json& document, Problems& problems);

// Adds a problem for each way in which `document`, whose lists are not too long, is not of the format's
// shape; of very many, the first.
void check_shape(const nlohmann::json& document, Problems& problems);

}  // namespace podium
