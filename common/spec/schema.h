// Checks documents by schemas/experiment.schema.json: valijson finds violations, explain.h explains them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/spec/problems.h"
#include "common/spec/suggest.h"

namespace podium {

const nlohmann::json& experiment_schema();

// Follows "$ref" to the schema that it names.
const nlohmann::json& resolved(const nlohmann::json& schema);

// The schema that governs the value at `pointer`; null where none does (below an unknown key).
const nlohmann::json* schema_of(const nlohmann::json::json_pointer& pointer);

// Every key of the format and every name people use for it, with its dotted path: ("learning_rate",
// "training.optimizer.lr"). Keys within lists, which have no such path, are left out.
const std::vector<Suggestion>& all_keys();

// The same of one mapping, with paths from there: ("learning_rate", "optimizer.lr") of a phase.
std::vector<Suggestion> keys_below(const nlohmann::json& schema);

// Adds a problem for each list that is longer than its schema allows. Call it before anything visits items,
// which bounds their cost.
void check_lengths(const nlohmann::json& document, Problems& problems);

// Adds a problem for each violation of the format's shape in `document`, whose lists are not too long; of
// very many only the first.
void check_shape(const nlohmann::json& document, Problems& problems);

// The same of a document that lists jobs: what a job lacks the rest of the document may have, and the other
// way round.
void check_parts_of_shape(const nlohmann::json& document, Problems& problems);

}  // namespace podium
